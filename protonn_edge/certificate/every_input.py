"""The claim that a linked program computes its model for every input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.program import LinkedProgram
from protonn_edge.certificate import claims
from protonn_edge.certificate.claims import Claim
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.errors import CheckFailed
from protonn_edge.system.lazy import optional

_SENTENCE = (
    "pnn_predict of the linked program computes the scores and the class of the integer model for "
    "every input"
)
_BY = "one symbolic execution of the machine code, compared with the model's sums"


def every_input(
    program: LinkedProgram, model: IntegerChain, points: NDArray[np.uint8], *, asked: bool
) -> Claim:
    """Return the claim; without a proof, it names the reason.

    Raises `CheckFailed` if the program differs on one of the points.
    """

    def unchecked(reason: str) -> Claim:
        return Claim("every-input", _SENTENCE, claims.NOT_CHECKED, reason)

    if not asked:
        return unchecked("add --every-input")
    room = optional("protonn_edge.proof.counterexample")
    if room is None:
        return unchecked("the proof is not installed")
    try:
        room.prove(program, model)
    except room.Unproven as reason:
        found = room.counterexample(program, model, points)
        if found is None:
            return unchecked(f"no proof was found: {reason}")
        raise CheckFailed(
            f"pnn_predict answers {_numbers(found.found)} to the inputs {_numbers(found.point)}, "
            f"but the integer model answers {_numbers(found.expected)}; build the project again"
        ) from reason
    return Claim("every-input", _SENTENCE, claims.PROVEN, _BY)


def _numbers(numbers: NDArray[np.uint8] | tuple[int, ...] | None) -> str:
    return "nothing" if numbers is None else " ".join(str(int(each)) for each in numbers)
