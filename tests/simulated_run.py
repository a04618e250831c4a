"""A run of `hil` with all but its toolchain, on a device that is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from fake_device import HostileDevice, ReferenceModel, SimulatedHost
from model_factory import random_model, random_points

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.codegen.verification import agreement
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.device.session import Session
from protonn_edge.learn.evaluation import measurement
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

BOARD = load_board("uno")
STACK_BYTES = 60  # what the linked program would take
POSSIBLE = PossibleCycles(2_000, 3_000, proven=True)  # what its machine code would show
N = 20


@cache
def subject() -> tuple[IntegerChain, Plan, np.ndarray, np.ndarray]:
    """Return a model of 4 classes, its plan, and points with their classes."""
    reference = quantize(random_model(features=6, projections=3, prototypes=5))
    X = random_points(1, N, 6).astype(np.float32)
    return reference, make_plan(reference), X, np.arange(N) % 4


def honest_model() -> ReferenceModel:
    """Return what a device that does all right answers."""
    reference, _, _, _ = subject()
    return ReferenceModel(reference, POSSIBLE.most - 1)


@dataclass(frozen=True)
class _Program:
    """A linked program that says nothing of its cycles."""

    path: Path
    symbols: tuple[()] = ()
    marks: tuple[()] = ()


def measure_on(
    devices: Sequence[HostileDevice], *, limit_s: float = 60.0, **options: Any
) -> tuple[measurement.Measurement, float]:
    """Measure on simulated devices; return the measurement and the seconds that have passed.

    Parameters
    ----------
    devices : sequence of HostileDevice
        One for each port.
    limit_s : float
        An `AssertionError` says so where a device is still waited for then.
    **options
        As `measure` takes them.
    """
    reference, plan, X, y = subject()
    project: Any = SimpleNamespace(
        folder=Path("project"),
        generated=lambda _=None: (reference, plan),
        compile=lambda _: Path("firmware.elf"),
    )
    hosts = {f"port {n}": SimulatedHost(device, limit_s) for n, device in enumerate(devices)}

    def open_session(url: str, model: IntegerChain, board: Any, **_: Any) -> Session:
        sha256 = bytes.fromhex(model.model_sha256)
        sizes = (model.n_features, model.n_classes)
        return Session(
            url,
            model_hash=sha256,
            n_features=sizes[0],
            n_classes=sizes[1],
            board=board,
            host=hosts[url],
        )

    usage = Usage(4_000, 300, STACK_BYTES, ("main",))
    with (
        mock.patch.object(agreement, "open_session", open_session),
        mock.patch.object(PossibleCycles, "of_program", return_value=POSSIBLE),
        mock.patch.multiple(
            measurement,
            exclusive=lambda _: nullcontext(),
            read_program=lambda path, _: _Program(path),
            check_budget=lambda *_: usage,
            check_linked=lambda *_: None,
        ),
    ):
        done = measurement.measure(project, (X, y), BOARD, ports=list(hosts), **options)
    return done, max(host.seconds for host in hosts.values())
