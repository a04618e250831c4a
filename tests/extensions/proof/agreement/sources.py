"""The functions with assembly of all kernels, each once, from the programs of `conformance`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from extensions.proof.agreement.calls import calls_of
from extensions.proof.agreement.case import Case, Stage
from extensions.proof.agreement.linked import Forms, linked_forms
from laws.conformance.instances import KINDS, Program, programs_of

from protonn_edge.codegen.renderer import render_c
from protonn_edge.model.integer_chain import named_stages

_FUNCTION = re.compile(r"^static[^\n;{}]*?(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}", re.M | re.S)
_ASSEMBLY = "__asm__ volatile("


@dataclass(frozen=True)
class Function:
    """A function with assembly in a program."""

    program: Program
    number: int
    stage: str
    name: str
    source: str

    @property
    def what(self) -> str:
        """What it does, by its name."""
        return re.sub(r"_\d+$", "", self.name.removeprefix(f"{self.stage}_"))

    @property
    def is_own(self) -> bool:
        """Whether it is of the stage that the program is there for."""
        return self.stage == self.program.instance.stage_name

    @property
    def id(self) -> str:
        """A name for messages."""
        return f"{self.program.instance.stage.kind} {self.number}: {self.name}"


def functions() -> list[Function]:
    """Return functions with different texts, those of a program's own stage first."""
    found = [
        each
        for kind in KINDS
        for number, program in enumerate(programs_of(kind))
        for each in functions_of(program, number)
    ]
    found.sort(key=lambda each: not each.is_own)
    return list({each.source: each for each in reversed(found)}.values())[::-1]


def functions_of(program: Program, number: int) -> Iterator[Function]:
    """Yield the functions with assembly of a program, which has a number among its kind's."""
    for match in _FUNCTION.finditer(_files(program)["pnn_model.c"]):
        if _ASSEMBLY in match[2]:
            stage = _stage_of(program, match[1])
            if stage:  # the stages in a cascade have programs of their own
                yield Function(program, number, stage, match[1], match[0])


def _stage_of(program: Program, name: str) -> str:
    names = named_stages(program.instance.model)
    return max((each for each in names if name.startswith(f"{each}_")), key=len, default="")


@cache
def _files(program: Program) -> dict[str, str]:
    return render_c(program.instance.model, program.plan)


@cache
def forms_of(program: Program, change: Callable[[str], str] = str) -> Forms:
    """Compile a program once, perhaps with another text."""
    files = _files(program)
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        return linked_forms(change(files["pnn_model.c"]), Path(folder))


def stage_of(function: Function, change: Callable[[str], str] = str) -> Stage:
    """Return a function's stage in its compiled program, perhaps with another text."""
    program, instance = function.program, function.program.instance
    names = list(named_stages(instance.model))
    place = names.index(function.stage)
    inputs = instance.inputs if place == instance.place else None
    forms, kernel = forms_of(program, change), program.plan.kernels[place]
    return Stage(function.stage, kernel, forms, names[place - 1], inputs)


def cases_of(function: Function, stage: Stage) -> Iterator[Case]:
    """Yield the calls of a function."""
    return calls_of(stage.kernel.stage.kind, function.what)(stage, function.name)
