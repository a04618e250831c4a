"""The claim that a linked program computes a model for every input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.codegen.renderer import PREFIX, SOURCES, render_c
from protonn_edge.device.results import Result
from protonn_edge.extensions.proof.certificate import claims
from protonn_edge.extensions.proof.certificate.claims import Claim
from protonn_edge.extensions.proof.difference import Unproven, prove, suspects
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed

_STATIC_IN_CPP = re.compile(r"^_ZL\d+")  # in front of the name of a static variable
_BY = "one symbolic execution of the machine code, compared with the model's sums"


def every_input(
    program: LinkedProgram,
    model: IntegerChain,
    plan: Plan,
    run: Callable[[NDArray[np.uint8]], list[Result]],
    *,
    asked: bool,
    edited: str = "",
) -> Iterator[Claim]:
    """Yield the claims that a proof and its checker make; without a proof, the reason.

    Nothing is proven of a project that was `edited`, which names its files: these pass the inputs
    and the answers on.

    Raises `CheckFailed` if a proof fails on points that the program, run on the emulated board,
    answers in another way than the model.
    """
    if edited or not asked:
        yield _unchecked(_sentence(model, plan.buffered), edited or "add --every-input")
        return
    parts = () if plan.buffered else parts_of(model, plan)
    refuse = partial(refuse_different, model, run=run)
    yield from _proven(program, model, plan, PREFIX, parts, refuse)


def in_sketch(program: LinkedProgram, model: IntegerChain, prefix: str) -> Iterator[Claim]:
    """Yield these claims about a program that calls the library of a model: its `prefix`_predict.

    Raises `InputError` if no library of the model can be generated.
    """
    limits = Limits(core=program.core)
    plan = plans(model, limits)[0]
    yield from _proven(program, model, plan, prefix, (), lambda _: None)


def _proven(
    program: LinkedProgram,
    model: IntegerChain,
    plan: Plan,
    prefix: str,
    parts: Sequence[int],
    refuse: Callable[[NDArray[np.uint8]], None],
) -> Iterator[Claim]:
    """Yield the claims; `refuse` gets points on which a program may differ from the model."""
    sentence = _sentence(model, not parts, prefix)
    sources = render_c(model, plan)
    linked = program.attributed(SOURCES[1].replace(PREFIX, prefix), "".join(sources.values()))
    try:
        proof = prove(linked, model, parts, prefix, plan)
    except Unproven as reason:
        refuse(suspects(reason, model))
        yield _unchecked(sentence, f"no proof was found: {reason}")
        return
    name = _STATIC_IN_CPP.sub("", proof.features)
    array = f"; the compiler has put the address of '{name}' into the code"
    by = f"{_BY}{array * bool(name)}"
    yield Claim("every-input", sentence, claims.PROVEN, by)
    if proof.cycles is not None:
        least, most = proof.cycles
        what = "the functions that a prediction calls take" if parts else f"{prefix}_predict takes"
        took = (
            f"{what} at least {least:,} and at most {most:,} cycles for any input, not counting "
            "interrupts"
        )
        by = "the same execution, without labels in the source"
        yield Claim("every-input-cycles", took, claims.PROVEN, by, most)


def _unchecked(sentence: str, reason: str) -> Claim:
    return Claim("every-input", sentence, claims.NOT_CHECKED, reason)


def parts_of(model: IntegerChain, plan: Plan) -> list[int]:
    """Return how many features the firmware pushes at once: its chunk, and the rest."""
    whole, rest = divmod(model.n_features, plan.chunk_features)
    return [plan.chunk_features] * whole + [rest] * (rest > 0)


def refuse_different(
    model: IntegerChain,
    points: NDArray[np.uint8],
    run: Callable[[NDArray[np.uint8]], list[Result]],
) -> None:
    """Raise `CheckFailed` if a device answers one of some points in another way than the model."""
    classes, scores = model.answers(points)
    for point, label, own, result in zip(
        points, classes, scores, run(points) if len(points) else (), strict=True
    ):
        expected, found = (label, *own), (result.predicted, *(result.scores or ()))
        if found != expected:
            raise CheckFailed(
                f"the linked firmware answers {_numbers(found)} to the inputs {_numbers(point)}, "
                f"but the integer model answers {_numbers(expected)}; build the project again"
            )


def _sentence(model: IntegerChain, at_once: bool, prefix: str = PREFIX) -> str:
    pushed = f"{prefix}_finish, behind the firmware's pushes,"
    function = f"{prefix}_predict" if at_once else pushed
    others = [f"{prefix}_{name}" for name in model.policy.c_functions]
    verb = "are" if others[1:] else "is"
    left_out = f"; {' and '.join(others)} {verb} not part of the claim" if others else ""
    taught = getattr(model.own_stages[-1], "voters", None) is not None
    examples = " and any taught examples, if no byte is being written to the EEPROM" * taught
    best = "the class" if model.policy.predicts == "class" else "the place of the largest score"
    answers = " or ".join([best, *(f'"{each.name}"' for each in model.policy.other_answers)])
    computed = f"the scores and {answers}" if model.policy.predicts != "value" else "the score"
    return (
        f"{function} of the linked program computes {computed} of the integer model for every "
        f"input{examples}{left_out}"
    )


def _numbers(numbers: Iterable[Any]) -> str:
    return " ".join("nothing" if each is None else str(int(each)) for each in numbers)
