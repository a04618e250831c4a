"""Proofs within seconds of one core, however much else the machine does meanwhile."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from protonn_edge.extensions.proof.certificate.eva import EvaResult, prove

_PATIENCE = 10  # times as long by the clock, for what waits

_LIMITED = """#!/bin/sh
ulimit -t {seconds}
exec {program} "$@"
"""


def proven(folder: Path, seconds: int) -> EvaResult:
    """Return what Eva finds; raises `CheckFailed` if it needs more seconds than that."""
    with TemporaryDirectory() as place:
        limited = Path(place) / "frama-c"
        limited.write_text(_LIMITED.format(seconds=seconds, program=shutil.which("frama-c")))
        limited.chmod(0o755)
        with mock.patch.dict(os.environ, PATH=f"{place}{os.pathsep}{os.environ['PATH']}"):
            return prove(folder, _PATIENCE * seconds)
