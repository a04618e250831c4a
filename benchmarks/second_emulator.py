"""A firmware on avr8js, an emulator that shares no code with simavr, beside the integer model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from printing import Record

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.project import Trial
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError


def on_avr8js(trial: Trial, reference: IntegerChain, Q: NDArray[np.uint8]) -> Record:
    """Return on how many points (n, features) there are mismatches, for `run_on_uno`."""
    try:
        board = EmulatedUno(trial.elf, emulator="avr8js")
    except InputError:  # there is no Node.js
        Q = Q[:0]
    if len(Q) == 0:
        return {"avr8js_points": 0, "avr8js_mismatches": 0}
    with board as uno:
        agreement, _ = verify_device("avr8js", uno.url, reference, Q)
    return {"avr8js_points": len(Q), "avr8js_mismatches": agreement.mismatches + agreement.lost}
