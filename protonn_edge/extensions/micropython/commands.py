"""The option of `export` for a module in Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any, ClassVar

import click
from numpy.typing import ArrayLike

from protonn_edge.cli.command import Output, option
from protonn_edge.cli.firmware_additions import OtherExport
from protonn_edge.cli.paths import FileKind, OutputFile
from protonn_edge.cli.trying import refused_wrong_answers, say_tried
from protonn_edge.codegen.verification.tryout import NOT_TRIED
from protonn_edge.extensions.micropython.board_modules import BOARD_MODULES
from protonn_edge.extensions.micropython.module import MARK, PythonModule
from protonn_edge.extensions.micropython.trial import try_module
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.system.files import write_atomically
from protonn_edge.system.shell import command_line


class _ModuleFile(OutputFile):
    """The path of a module, to which ".py" is added; an earlier export may be there."""

    def __init__(self) -> None:
        super().__init__(FileKind("a module of 'export'", re.escape(MARK)))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail with a name that cannot be imported."""
        path = super().convert(value, param, ctx)
        name = path.name.removesuffix(".py")
        if not (name.isidentifier() and name.isascii()) or iskeyword(name):
            self.fail(
                f"{name!r} is no name for 'import'; choose one of letters, digits and '_' that "
                "does not begin with a digit",
                param,
                ctx,
            )
        # Some boards have Python's modules under names that begin with u, such as utime.
        taken = sys.stdlib_module_names | BOARD_MODULES
        if name in taken or (name.startswith("u") and name[1:] in sys.stdlib_module_names):
            self.fail(f"Python or a board has its own {name}.py; choose another name", param, ctx)
        return path.with_name(f"{name}.py")


@dataclass(frozen=True)
class MicroPythonOptions(OtherExport):
    """The option as it was given."""

    OF_MODEL: ClassVar[str] = "--micropython, with a name"
    APART: ClassVar[Mapping[str, str]] = {
        "--micropython": "--arduino --platformio --c --meter --sensor --library --board "
        "--max-flash --max-sram"
    }
    NEEDS: ClassVar[Mapping[str, str]] = {"--measure": "--micropython"}
    EXAMPLES: ClassVar[Sequence[str]] = ("model.npz --micropython digits",)

    path: Path | None = option(
        "Write NAME.py, a module for MicroPython, CircuitPython and Python.",
        _ModuleFile(),
        flag="--micropython",
        metavar="NAME",
    )

    measure: bool = option(
        "Also write NAME_measure.py, a program for the board that 'hil --model' measures.",
        is_flag=True,
    )

    @property
    def is_given(self) -> bool:
        """Whether a module is named."""
        return self.path is not None

    def write(
        self, out: Output, model: DeviceModel | None, points: ArrayLike | None, *, tries: bool
    ) -> None:
        """Write the module, and print its path and how to use it."""
        path = self.path
        assert path is not None
        if model is None:
            raise click.UsageError("name a model file, from which --micropython writes a module")
        module = PythonModule(path.stem, model, points)
        facts = {"kind": "micropython", "name": path.stem, "file": str(path)}
        with refused_wrong_answers(out, facts):
            tried = try_module(module) if tries else NOT_TRIED
        write_atomically(path, module.text)
        if self.measure:
            program = path.with_name(f"{path.stem}_measure.py")
            write_atomically(program, module.measure)
            facts["measure"] = str(program)
            out.say(f"{program}: its first lines show how to measure on the board")
        size = len(module.text.encode())
        out.say(f"{path}: {size:,} B, for MicroPython, CircuitPython and Python")
        say_tried(out, tried)
        out.say(
            f"next: on the board, import {path.stem} and call {path.stem}.self_test(), which "
            f"returns True; first, copy it: {command_line(['mpremote', 'cp', str(path), ':'])}"
        )
        vectors = {"vectors": len(module.vectors.points), "bytes": size}
        made = {"model_sha256": model.chain.model_sha256, "tried": tried.to_json()}
        out.finish({**facts, **vectors, **made})
