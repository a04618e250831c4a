"""``protonn-edge taught``: keep a board's examples in a file of this computer."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from protonn_edge.boards import load_board
from protonn_edge.chain.file import load_model
from protonn_edge.chain.model import Model
from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.devices import EEPROM, port_to_hear
from protonn_edge.cli.options import BOARD, MODEL_PATH, PATH, PORT, PROJECT
from protonn_edge.cli.paths import TAUGHT, OutputFile, check_there
from protonn_edge.datasets import Notice
from protonn_edge.device import teaching as device
from protonn_edge.device.session import Session
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.errors import CheckFailed, InputError, counted
from protonn_edge.kinds.protonn import teaching
from protonn_edge.kinds.protonn.prototypes.teaching import ERASED, Taught, is_of_another
from protonn_edge.projects.folder import Project
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.report.terminal import fact_table
from protonn_edge.toolchain.platformio import build_firmware


@command("taught", apart={"--clear": "--restore", "--port": "--eeprom"})
def taught_command(
    model_file: Path | None = argument(MODEL_PATH, metavar="[MODEL]", required=False),
    port: str | None = PORT,
    output: Path | None = option(
        "Write the board's examples to a file (.npz).", OutputFile(TAUGHT)
    ),
    restore: Path | None = option(
        "Replace the board's examples with those in a file that -o wrote.", PATH
    ),
    clear: bool = option("Delete all examples on the board.", is_flag=True),
    folder: Path = PROJECT,
    eeprom: Path | None = EEPROM,
    board_name: str = BOARD,
    out: Output = OUTPUT,
) -> None:
    """Show how many examples of each class a board was taught; save, restore or clear them.

    The board runs the firmware of MODEL, by default of the model built in the current folder.
    With --eeprom, the board is emulated. With -o, the board's examples are written to a file
    before --restore or --clear changes them.
    """
    board, project = load_board(board_name), Project(folder)
    model = quantize(_built(project) if model_file is None else load_model(model_file))
    _, room = teaching.teachable_stage(model)
    wanted = None if restore is None else teaching.load_taught(restore, model)
    with ExitStack() as stack:
        if eeprom is not None:
            if wanted is None:
                check_there(eeprom)
            elf = build_firmware(folder, board.environment)
            port = stack.enter_context(EmulatedBoard(elf, board=board, eeprom=eeprom)).url
        port = port_to_hear(out, port, board)
        model_hash = bytes.fromhex(model.model_sha256)
        session = stack.enter_context(Session(port, model_hash=model_hash, board=board))
        examples = _examples(session, model, out)
        if output is not None and not len(examples) and output.exists():
            raise CheckFailed(
                f"the board has no examples, so {output} is not overwritten; choose another file "
                "with -o"
            )
        if output is not None:
            teaching.save_taught(output, model, examples)
        if clear:
            device.forget(session)
        elif wanted is not None:
            device.write_store(session, teaching.stored(model, wanted))
        kept = _examples(session, model)
    counts = dict(zip(model.classes, kept.counts(model.n_classes).tolist(), strict=True))
    out.say(
        f"{eeprom or port} has {counted(len(kept), 'example')}, of at most {room.room}:",
        fact_table([(name, str(count)) for name, count in counts.items()]),
    )
    if output is not None:
        out.say(f"{output} has {counted(len(examples), 'example')}")
    out.finish({"port": port, "examples": len(kept), "room": room.room, "classes": counts})


def _examples(session: Session, model: IntegerChain, out: Output | None = None) -> Taught:
    """Return a board's examples; warn if it has another model's examples instead."""
    content = device.read_store(session)
    if out is not None and is_of_another(content, bytes.fromhex(model.model_sha256)):
        out.notice([Notice("store", ERASED, warning=True)])
        out.say()
    return teaching.recalled(model, content)


def _built(project: Project) -> Model:
    if not project.built:
        raise InputError(
            f"no model was built in {project.folder.absolute()}; name the folder of the build with "
            "--project or, if its firmware reads a sensor, use 'taught model.npz --project FOLDER'"
        )
    return project.model()
