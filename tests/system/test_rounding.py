"""The same command trained another model on each processor, whose loops add in another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest import mock

import pytest

from protonn_edge.system import rounding

NAMES = tuple(rounding._LOOPS)
WHAT_A_COMMAND_LOADS = """
import json
from protonn_edge.cli import main
try:
    main(["inspect", "--help"])
except SystemExit as end:
    assert end.code == 0
from numpy._core._multiarray_umath import __cpu_features__
from threadpoolctl import threadpool_info
loops = {each["architecture"] for each in threadpool_info() if each["user_api"] == "blas"}
print("\\n" + json.dumps([sorted(loops), __cpu_features__.get("X86_V4", False)]))
"""


@pytest.mark.skipif(
    not rounding.has_common_loops(),
    reason="needs Linux on a processor with AVX2 and FMA, and a NumPy from a wheel",
)
@pytest.mark.parametrize("asked", [{}, {"OPENBLAS_CORETYPE": "Nehalem"}], ids=["free", "set"])
def test_a_command_uses_loops_that_other_processors_have(asked: dict[str, str]) -> None:
    free = {name: value for name, value in os.environ.items() if name not in NAMES}
    command = [sys.executable, "-W", "error::ImportWarning", "-c", WHAT_A_COMMAND_LOADS]
    done = subprocess.run(command, env=free | asked, capture_output=True, text=True, check=True)
    loops, widest = json.loads(done.stdout.splitlines()[-1])
    assert loops == [asked.get("OPENBLAS_CORETYPE", "Haswell")]
    assert not widest
    assert not done.stderr


@pytest.mark.parametrize(
    ("flags", "wheel", "loaded", "chosen"),
    [
        ("sse2 avx avx2 fma", True, False, True),
        ("sse2 avx avx2 fma", False, False, False),
        ("sse2 avx avx2 fma", True, True, False),
        ("sse2 avx avx2", True, False, False),
        (None, True, False, False),
    ],
    ids=["AVX2", "NumPy compiled here", "NumPy is loaded", "no FMA", "not Linux"],
)
def test_loops_are_chosen_only_where_they_are_sure_to_run(
    flags: str | None,
    wheel: bool,
    loaded: bool,
    chosen: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processor = tmp_path / "cpuinfo"
    if flags is not None:
        processor.write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t:\n")
    if wheel:
        (tmp_path / "numpy.libs").mkdir()
    numpy = ModuleSpec("numpy", None, is_package=True)
    numpy.submodule_search_locations = [str(tmp_path / "numpy")]
    monkeypatch.setattr(rounding, "_PROCESSOR", processor)
    monkeypatch.setattr(rounding, "find_spec", lambda _: numpy)
    monkeypatch.setattr(rounding, "sys", mock.Mock(modules={"numpy": None} if loaded else {}))
    with mock.patch.dict(os.environ, clear=True):
        rounding.fix_rounding()
        assert set(os.environ) == (set(NAMES) if chosen else set())
