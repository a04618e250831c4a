"""Interrupts are never off for longer than the check after the link has worked out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extension_parts import needs
from model_factory import random_model
from npm_packages import npm_packages

from protonn_edge.chips.avr.interrupts import masked_spans
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.families.avr.checks import receiver_limit
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.device import protocol
from protonn_edge.model.quantization import quantize

pytestmark = [needs_emulated_avr, needs("page")]


HERE = Path(__file__).parent


def counted(firmware: Path, requests: list[protocol.Message]) -> tuple[int, int]:
    """Return the bytes that avr8js lost of requests, and the most cycles with interrupts off."""
    packages = npm_packages("avr8js", HERE)
    frames = [protocol.encode_message(each, n + 1).hex() for n, each in enumerate(requests)]
    command = ["node", HERE / "run.mjs", packages, firmware]
    done = subprocess.run(
        command, input="\n".join(frames), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    return counts["lost"], counts["masked"]


# Many short pushes, few long ones, as slow a feature as the budget gate lets through, 32-bit sums.
@pytest.mark.parametrize(
    ("projections", "gamma_numerator"), [(1, 2.5), (10, 2.5), (44, 2.5), (20, 25.0)]
)
def test_no_byte_is_lost_at_wire_speed_when_no_feature_is_zero(projections, gamma_numerator):
    model = random_model(
        features=200, projections=projections, prototypes=3, gamma_numerator=gamma_numerator
    )
    board, integer_model = load_board("uno"), quantize(model)
    Q = np.full((4, 200), integer_model.inputs.maximum, np.uint8)
    requests = [protocol.ScoresRequest(q.tobytes()) for q in Q]
    with trial_build(model, board) as trial, EmulatedUno(trial.elf, board=board) as uno:
        bound = masked_spans(read_program(trial.elf))
        agreement, _ = verify_device("simavr", uno.url, integer_model, Q)
        lost, masked = counted(trial.elf.with_suffix(".hex"), requests)
        assert (agreement.mismatches, agreement.lost, uno.stats().overruns) == (0, 0, 0)
    assert lost == 0
    # avr8js goes from one handler to another at once; the chip runs an instruction in between.
    handlers = sum(span.cycles for span in bound.handlers.values())
    longest = max(bound.program.cycles, handlers)
    assert 0 < masked <= longest <= bound.worst_delay <= receiver_limit(board)
