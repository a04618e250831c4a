"""Run the generated C on the host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.renderer import render_c
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import resource, write_plainly
from protonn_edge.system.folders import scratch_folder

_DEADLINE_S = 300.0

Feeding = Literal["whole", "push", "split", "chunks", "short", "raw"]


def host_main() -> Path:
    """Return the program around the generated C."""
    return resource("firmware") / "host" / "main.c"


@dataclass(frozen=True)
class HostProgram:
    """The generated C of one model, compiled for the host."""

    executable: Path
    n_features: int
    n_classes: int

    def run(
        self, Q: NDArray[np.integer[Any]], feeding: Feeding = "whole"
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the classes (n,) and the scores (n, L) of quantized inputs Q, (n, D).

        Features are passed all at once, one by one, in two parts, or in chunks of all sizes;
        "short" omits the last third. "raw" integers of 16 bits pass through ``pnn_quantize`` first.
        Raises `CheckFailed` if the program crashes, is stopped by a sanitizer, or exceeds its
        deadline.
        """
        points = np.ascontiguousarray(Q, dtype="<i2" if feeding == "raw" else np.uint8)
        try:
            done = subprocess.run(
                [self.executable, feeding],
                input=points.tobytes(),
                capture_output=True,
                timeout=_DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckFailed(
                f"the host build took more than {_DEADLINE_S:.0f} s for {len(points):,} points; "
                "pass fewer points"
            ) from error
        record = np.dtype([("label", "u1"), ("scores", "<i4", (self.n_classes,))])
        if done.returncode != 0 or len(done.stdout) != len(points) * record.itemsize:
            reason = done.stderr.decode(errors="replace").strip().splitlines()
            raise CheckFailed(
                f"the host build stopped with code {done.returncode} after "
                f"{len(done.stdout) // record.itemsize:,} of {len(points):,} points"
                + (f": {reason[0]}" if reason else "")
            )
        answers = np.frombuffer(done.stdout, dtype=record)
        return answers["label"].astype(np.int64), answers["scores"].astype(np.int64)


@contextmanager
def host_program(
    model: IntegerChain, plan: DevicePlan | None = None, *, sanitize: bool = False
) -> Iterator[HostProgram]:
    """Render and compile a model in a temporary folder."""
    with scratch_folder() as folder:
        main = '#include "pnn_model.c"\n' + host_main().read_text("utf-8")
        whole = "whole.c"  # one unit compiles quicker than two
        write_plainly(folder, {**render_c(model, plan), whole: main})
        executable = build_host_executable([folder / whole], folder, folder / "model", sanitize)
        yield HostProgram(executable, model.n_features, model.n_classes)
