"""Check the exported library's input quantizer: the answers of a model fed by a sketch.

`verify` and `hil` send the device bytes that the host has quantized from floats. A sketch instead
rounds each value to an integer of 16 bits, in the unit that the header names (see `raw_inputs`),
and passes it to ``pnn_quantize``. This module quantizes the same points in this way in NumPy, in
the generated C on the host, and in firmware that calls ``pnn_quantize`` on the emulated board; the
three must agree score by score. The difference of the two accuracies is the cost of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.chain.model import Model
from protonn_edge.codegen import DevicePlan
from protonn_edge.codegen.host import host_program
from protonn_edge.datasets.naming import channel_names
from protonn_edge.device import ReferenceAnswers, Result
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.errors import CheckFailed
from protonn_edge.evaluation.accuracy import is_labelled, share_right
from protonn_edge.projects.checks import OverBudget
from protonn_edge.projects.project import raw_input_build
from protonn_edge.quantization import MOST_FEATURES, DeviceModel
from protonn_edge.toolchain.process import has_compiler
from protonn_edge.verification.agreement import Agreement, compare, disagreement, verify_device

TOLERATED_LOSS = 0.005
"""Tolerated loss of accuracy through ``pnn_quantize``: half a percentage point."""

_THROUGH = "through pnn_quantize"
_FIRST_SHOWN = 10
_NAMED = 3
_NAME_LENGTH = 40


@dataclass(frozen=True)
class LibraryCheck:
    """The answers of a model fed by a sketch."""

    n: int  # points
    # with bytes quantized by the host, and by ``pnn_quantize``; None without labels
    accuracy: float | None
    library_accuracy: float | None
    differing: tuple[int, ...]  # rows of the points with different classes in the two
    losing: tuple[str, ...]  # features with the most different bytes, the worst first
    # whether raw integers are the bytes themselves: ``pnn_quantize`` returns its argument
    # given
    identity: bool
    # executions that were compared with NumPy on this way, score by score
    agreements: tuple[Agreement, ...] = ()
    left_out: str = ""  # why the emulated board is omitted, "" if it is not

    def to_json(self) -> dict[str, Any]:
        """Return the check with the field names that `verify` and `hil` print."""
        return {
            "library_accuracy": self.library_accuracy,
            "library_differs": {
                "n": len(self.differing),
                "first": list(self.differing[:_FIRST_SHOWN]),
            },
            "library_identity": self.identity,
            "library_executions": [asdict(agreement) for agreement in self.agreements],
            "library_left_out": self.left_out or None,
        }

    @property
    def failure(self) -> CheckFailed | None:
        """The failure: an execution that differs from NumPy, or too large a loss of accuracy."""
        differs = disagreement(self.agreements)
        if differs is not None:
            return differs
        if self.accuracy is None or self.library_accuracy is None:
            return None
        if self.accuracy - self.library_accuracy <= TOLERATED_LOSS:
            return None
        names = f", mostly {', '.join(self.losing)}" if self.losing else ""
        return CheckFailed(
            f"a sketch that uses pnn_quantize classifies only {100 * self.library_accuracy:.2f} % "
            f"of the points correctly, instead of {100 * self.accuracy:.2f} %, because rounding to "
            f"16-bit integers changes the features too much{names}; subtract a constant from these "
            "features before training, or call pnn_quantize_float"
        )


@dataclass(frozen=True)
class LibraryWay:
    """Points quantized by the library's ``pnn_quantize``."""

    model: DeviceModel  # the reference
    X: NDArray[Any]  # (n, D): points in the training data's unit
    y: NDArray[np.int64]  # (n,): their classes, or `NO_LABEL`

    @cached_property
    def integers(self) -> NDArray[np.int16]:
        """The raw integers (n, D) that a sketch passes."""
        return self.model.raw_inputs.integers(self.X)

    @cached_property
    def bytes(self) -> NDArray[np.uint8]:
        """The bytes that ``pnn_quantize`` returns for them, (n, D)."""
        return self.model.raw_inputs.quantize(self.integers)

    @cached_property
    def expected(self) -> ReferenceAnswers:
        """The reference's answers to them."""
        return ReferenceAnswers.of(self.model, self.bytes)

    def check(self) -> LibraryCheck:
        """Return the check by NumPy alone."""
        Q = self.model.quantize(self.X)
        usual, own = self.model.predict(Q), self.expected.classes
        labelled = is_labelled(self.y)
        return LibraryCheck(
            n=len(self.y),
            accuracy=share_right(usual, self.y) if labelled else None,
            library_accuracy=None if own is None or not labelled else share_right(own, self.y),
            differing=tuple(np.flatnonzero(usual != own).tolist()),
            losing=self._losing(Q),
            identity=bool((self.integers == Q).all()) and self._keeps_bytes(),
        )

    def on_host(self) -> Agreement:
        """Compare the generated C, compiled for this computer, with NumPy."""
        with host_program(self.model) as program:
            answers = program.run(self.integers, "raw")
        return compare(f"host C {_THROUGH}", self.expected, *answers)

    def on_emulated(
        self,
        elf: Path,
        board: Board,
        sink: Callable[[Result], None] | None = None,
        emulator: str | None = None,
    ) -> Agreement:
        """Compare firmware for raw integers on the emulated board with NumPy."""
        name = f"emulated {board.name} {_THROUGH}"
        with EmulatedBoard(elf, board=board, emulator=emulator) as emulated:
            agreement, _ = verify_device(
                name, emulated.url, self.model, self.bytes, sink, board, raw=self.integers
            )
        return agreement

    def _keeps_bytes(self) -> bool:
        """Whether ``pnn_quantize`` returns every possible byte of a feature unchanged."""
        values = np.arange(self.model.features.maximum + 1, dtype=np.int16)
        table = np.repeat(values[:, None], self.model.n_features, axis=1)
        return bool((self.model.raw_inputs.quantize(table) == table).all())

    def _losing(self, Q: NDArray[np.uint8]) -> tuple[str, ...]:
        """Return the names of features whose bytes differ most from the floats' Q (n, D)."""
        steps = np.abs(self.bytes.astype(np.int64) - Q).sum(axis=0)
        names = [name[:_NAME_LENGTH] for name in self.model.feature_names]
        channels = self.model.n_channels
        if channels is not None:
            steps = steps.reshape(-1, channels).sum(axis=0)
            names = [*channel_names(self.model.feature_names, channels)]
            names = names or [f"channel {channel}" for channel in range(channels)]
        worst = np.argsort(-steps, kind="stable")[:_NAMED].tolist()
        return tuple(names[i] if names else f"feature {i}" for i in worst if steps[i] > 0)


def check_library(
    model: Model,
    way: LibraryWay,
    plan: DevicePlan | None,
    board: Board,
    sink: Callable[[Result], None] | None = None,
    emulator: str | None = None,
) -> LibraryCheck:
    """Check the library's ``pnn_quantize`` in all available executions.

    The emulated board runs the plan. No board is emulated without a plan, or if the raw integers
    are the bytes themselves. Each result of the board goes to `sink`.
    """
    check = way.check()
    agreements = [way.on_host()] if has_compiler() else []
    left_out = ""
    if plan is None:
        left_out = "no emulated board classified the points"
    elif check.identity:
        left_out = "pnn_quantize returns its argument unchanged"
    elif 2 * way.model.n_features > MOST_FEATURES:
        left_out = "the serial protocol cannot carry this many 16-bit features"
    else:
        try:
            with raw_input_build(model, way.model, plan, board) as elf:
                agreements.append(way.on_emulated(elf, board, sink, emulator))
        except OverBudget:
            left_out = f"the serial firmware with pnn_quantize does not fit the {board.name}"
    return replace(check, agreements=tuple(agreements), left_out=left_out)
