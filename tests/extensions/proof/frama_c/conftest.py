"""What Frama-C found, kept between runs of the tests by the content of all that it read.

It is kept where the tests keep what compilers made, by the same rules: the bytes of Frama-C, of its
parts and of the preprocessor, the options, and the files of the program and its driver. A run that
stopped, for instance at its limit of time, is not kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kept import KEPT
from kept_compilers import MOST, identity

from protonn_edge.chips.toolchain.process import run_within as run_plainly
from protonn_edge.extensions.proof.certificate import eva
from protonn_edge.system.folders import digest
from protonn_edge.system.kept_results import KeptResults

_PATHS = ("-print-share-path", "-print-plugin-path")


@pytest.fixture(scope="session", autouse=True)
def _kept_proofs() -> Iterator[None]:
    program = shutil.which("frama-c")
    if program is None:
        yield
        return
    tools = _identity_of_frama_c(program)
    folder = Path(os.environ[KEPT])
    kept = KeptResults(folder.name, MOST, folder.parent)

    def run_within(
        deadline_s: float, words: Sequence[str], **rest: Any
    ) -> subprocess.CompletedProcess[str]:
        if "-report-csv" not in words:
            return run_plainly(deadline_s, words, **rest)
        report = Path(words[-1])
        key = digest([tools, *_read(words, report)])
        if found := kept.get(key):
            printed, _, rows = found.partition(b"\0")
            report.write_bytes(rows)
            return subprocess.CompletedProcess(words, 0, printed.decode(), "")
        done = run_plainly(deadline_s, words, **rest)
        if done.returncode == 0 and report.exists():
            kept.put(key, done.stdout.encode() + b"\0" + report.read_bytes())
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eva, "run_within", run_within)
        yield


def _read(words: Sequence[str], report: Path) -> Iterator[bytes]:
    """Yield the options, and the files of the folder, which Frama-C includes."""
    for word in words:
        yield word.replace(str(report.parent), "").encode()
    for path in sorted(report.parent.iterdir()):
        if path != report:
            yield from (path.name.encode(), path.read_bytes())


def _identity_of_frama_c(program: str) -> bytes:
    """Return a digest of Frama-C, its plugins and headers, and the preprocessor that it calls."""
    asked = (subprocess.check_output([program, option], text=True) for option in _PATHS)
    parts = [path for each in asked for path in sorted(Path(each).rglob("*")) if path.is_file()]
    about = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in parts]
    preprocessor = identity(shutil.which("gcc") or program)
    return digest(
        [Path(program).read_bytes(), repr(about).encode(), preprocessor.encode()]
    ).encode()
