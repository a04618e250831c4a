"""Which functions with assembly are proven: by `equality`, in a program that is proven whole.

If a stage of the features has no proof, the classifier is proven alone: its functions have the same
texts there. Labels around the assembly of functions show how much of it a proof executes.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from extensions.proof.agreement.sources import Function, functions, functions_of
from extensions.proof.equality.programs import linked
from laws.conformance.instances import KINDS, Program, programs_of

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.planner import plan_of
from protonn_edge.extensions.proof.difference import PredictionProof
from protonn_edge.extensions.proof.forms import Unproven

WITHOUT_PROOF = (
    "audio",
    "bonsai_tree",
    "cascade",
    "deskew",
    "gradients",
    "kernels",
    "window_features",
)
"""Kinds of stages of which no program is proven."""

UNPROVEN = {
    "window_features 3": "a coordinate that is no function of a sum",
}
"""Other programs of `conformance`, or classifiers of such programs, that are not, and why."""

LEAST_SHARE = 0.8  # of the instructions of a function's assembly, that a proof executes
_PUSHED = 7  # features at once, which cut rows of images anywhere
_STATEMENT = re.compile(r"(__asm__ volatile\(\n)(.*?)(\n\s*:|\);)", re.DOTALL)
_LABELS = r'\1"pnn_span.{0}_begins.%=:\\n"\n\2\n"pnn_span.{0}_ends.%=:\\n"\3'


@cache
def provable(kind: str) -> dict[str, Program]:
    """Return what may be proven of the programs of a kind, by their names."""
    programs = ((f"{kind} {number}", each) for number, each in enumerate(programs_of(kind)))
    return {name: alone for name, each in programs if (alone := _alone(each)) is not None}


def _alone(program: Program) -> Program | None:
    """Return a program, or its classifier if a stage of its features has no proof."""
    model = program.instance.model
    if any(stage.kind in WITHOUT_PROOF for stage in model.own_stages):
        return None
    if all(stage.kind not in WITHOUT_PROOF for stage in model.feature_stages):
        return program
    alone = replace(model, features=None)
    return Program(replace(program.instance, model=alone), plan_of(alone, program.plan.choices))


@cache
def proven_functions() -> frozenset[str]:
    """Return the texts of the functions in programs that are proven."""
    programs = (each for kind in KINDS for each in provable(kind).items())
    proven = (program for name, program in programs if name not in UNPROVEN)
    return frozenset(each.source for program in proven for each in functions_of(program, 0))


def left() -> list[Function]:
    """Return the functions that no such program has."""
    return [each for each in functions() if each.source not in proven_functions()]


class Result(NamedTuple):
    """What came of a proof.

    Attributes
    ----------
    name : str
        Of the program.
    reason : str
        Why it is not proven, or empty.
    shares : dict of str to float
        By the text of a function that is used, how much of its assembly was executed.
    seconds : float
        CPU time.
    """

    name: str
    reason: str
    shares: dict[str, float]
    seconds: float

    @property
    def is_known(self) -> bool:
        """Whether it is proven, or else one of those that are known not to be."""
        return bool(self.reason) == (self.name in UNPROVEN)


def prove_program(name: str) -> Result:
    """Prove a program, also with features pushed in parts if a function needs that."""
    program = provable(name.partition(" ")[0])[name]
    model, own = program.instance.model, [*functions_of(program, 0)]
    start = time.process_time()
    with TemporaryDirectory() as folder:
        marked = linked(model, program.plan, Path(folder), change=partial(_marked, own))
    parts = [_PUSHED] * (model.n_features // _PUSHED)
    parts.append(model.n_features - sum(parts))
    executed, reason = set[int](), ""
    shares: dict[str, float] = {}
    for each in ((), [part for part in parts if part]):
        proof = PredictionProof(marked, model, parts=each)
        try:
            proof.proof()
        except Unproven as error:
            reason = "" if each else str(error)  # in parts, it need not be proven here
            break
        executed |= proof.machine.executed.keys()
        found = {f.source: _share(marked, f.name, executed) for f in own}
        shares = {source: share for source, share in found.items() if share is not None}
        if min(shares.values(), default=1) >= LEAST_SHARE:
            break
    return Result(name, reason, shares, time.process_time() - start)


def unexecuted(results: Iterable[Result]) -> list[str]:
    """Return the functions of proven programs of whose assembly no proof has executed enough."""
    most = Counter[str]()
    for each in results:
        most |= Counter(each.shares)
    texts = {text for text, share in most.items() if share < LEAST_SHARE}
    return [each.id for each in functions() if each.source in texts]


def _marked(own: Sequence[Function], text: str) -> str:
    """Put labels around the assembly of functions; they take no memory."""
    for each in own:
        text = text.replace(each.source, _STATEMENT.sub(_LABELS.format(each.name), each.source))
    return text


def _share(program: LinkedProgram, name: str, executed: set[int]) -> float | None:
    """Return how much of a function's assembly was executed, in any copy; None without one."""
    own = re.compile(rf"\w+_span\.{name}_(begins|ends)\..*")
    labels = sorted(each.address for each in program.marks if own.fullmatch(each.name))
    instructions, found = 0, set[int]()
    for begin, end in zip(labels[::2], labels[1::2], strict=True):
        places = [each.address for each in _instructions(program, begin, end)]
        instructions = max(instructions, len(places))
        found |= {number for number, place in enumerate(places) if place in executed}
    return len(found) / instructions if instructions else None


def _instructions(program: LinkedProgram, begin: int, end: int) -> Iterator[Decoded]:
    while begin < end:
        yield (each := program.reached(begin))
        begin = each.end
