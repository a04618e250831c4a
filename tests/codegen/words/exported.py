"""Exported libraries, strictly compiled for the cores of boards; their self-tests in QEMU.

    python -m codegen.words.exported [--board NAME]

runs the self-test of a library of each kind for each board with 32 bits, by gcc and, where it is
installed (pip install ziglang), by Zig's clang, at -O2 and -Os.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from codegen.words.chips import CHIPS, HERE, LX106, STRICT, Chip, compiled, lacks_clang, linked
from convolution_factory import random_convolution
from convolution_factory import random_model as random_convolution_model
from extension_parts import additions
from kinds.kind import kind_of, kinds_with_models
from model_factory import (
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.chips.boards import board_names, export_board_names, load_export_board
from protonn_edge.codegen.export import export
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.model import Model

MODELS: Mapping[str, Callable[[], Model]] = {
    "protonn": random_model,
    **{kind: kind_of(kind).random_model for kind in kinds_with_models()},
    "windows": lambda: random_window_model(window_features_of("mean,deviation,max,bands:2")),
    "pooling": lambda: random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4))),
    "convolution": lambda: random_convolution_model(
        layered((random_convolution(0, (8, 8, 1), 4, input_maximum=255, maximum=255),))
    ),
    **additions("exported models"),
}
_CHIPS = {
    **dict.fromkeys(("cortex-m0", "cortex-m0plus"), "m0"),
    **dict.fromkeys(("cortex-m3", "cortex-m4", "cortex-m7"), "m4"),
    "rv32imc": "rv32",
}


def chip_of(board: str) -> Chip:
    """Return the emulated chip that is nearest to a board's, with the options for its own core."""
    core = load_export_board(board).core
    if core not in _CHIPS:
        return replace(LX106, core=core)
    chip = CHIPS[_CHIPS[core]]
    own = {"m0": f"-mcpu={core} -mthumb", "rv32": "-march=rv32imac -mabi=ilp32"}
    return replace(chip, core=core, target=own.get(chip.name, chip.target))


def boards() -> list[str]:
    """Return the names of boards with 32 bits."""
    others = set(export_board_names()) - set(board_names())
    return sorted(name for name in others if load_export_board(name).cpu.family != "avr")


def differing(
    board: str,
    model: Model,
    optimize: str = "-O2",
    *,
    compiler: str = "gcc",
    wrong: bool = False,
) -> int:
    """Return how many test vectors of a library differ on the emulated chip.

    With `wrong`, a score in the library is changed first.
    """
    chip = chip_of(board)
    with TemporaryDirectory() as name:
        folder = Path(name) / "library"
        export(model, "c", folder, board, prefix="pnn", tries=False)
        if wrong:
            vectors = folder / "pnn_self_test.c"
            vectors.write_text(_with_wrong_score(vectors.read_text()))
        flags = [*STRICT, "-Werror", f"-I{folder}"]
        objects = [
            compiled(chip, folder / source, optimize, *flags, compiler=compiler)
            for source in ("pnn_model.c", "pnn_self_test.c")
        ]
        # clang calls functions of the EABI, which newlib has
        library = compiler == "clang" and chip.prefix.startswith("arm")
        said = linked(chip, folder, HERE / "self_test.c", objects, library=library).run().printed
    found = re.search(r"vectors (\d+) differing (\d+)", said)
    assert found, f"the program printed no result: {said[:500]!r}"
    assert int(found[1]) > 0
    return int(found[2])


def _with_wrong_score(text: str) -> str:
    place = text.index("static const pnn_score_t scores")
    return text[:place] + re.sub(r"(-?\d+),", lambda n: f"{int(n[1]) ^ 1},", text[place:], count=1)


@click.command()
@click.option("--board", type=click.Choice(boards()), help="One board.")
def main(board: str | None) -> None:
    """Print how many self-tests pass."""
    failed = False
    for name in [board] if board else boards():
        chip = chip_of(name)
        for compiler in ("gcc", "clang"):
            if chip.missing or (compiler == "clang" and (not chip.clang or lacks_clang())):
                click.echo(f"{name}, {compiler}: not installed")
                continue
            passed = tried = 0
            for kind, made in MODELS.items():
                for level in ("-O2", "-Os"):
                    found = differing(name, made(), level, compiler=compiler)
                    tried += 1
                    passed += found == 0
                    if found:
                        click.echo(f"{name}, {compiler} {level}, {kind}: {found} vectors differ")
            failed |= passed < tried
            click.echo(f"{name}, {compiler}: {passed} of {tried} self-tests pass")
    sys.exit(failed)


if __name__ == "__main__":
    main()
