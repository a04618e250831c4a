"""The fuzzers' runner: what counts as a finding, and how one sees it again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkout import CHECKOUT

AREAS = {
    "fine": "folder.joinpath('made').write_text('x')",
    "asserts": "assert seed != 2, 'two is odd'",
    "raises": "raise KeyError(seed)",
    "warns": "import warnings; warnings.warn('careful', stacklevel=1)",
    "hangs": "import time; time.sleep(60)",
    "dies": "import os; os.abort()",
    "fills": "import time; data = bytearray(300_000_000); time.sleep(60)",
    "skips": "from avr_tools import skip_without; skip_without('no-such-tool')",
}
LIMITS = "DEADLINE_S = 3\nMEMORY_LIMIT_BYTES = 200_000_000\n"


def fuzz(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "laws.fuzz", "--folder", folder, *map(str, arguments)]
    return subprocess.run(
        command, cwd=CHECKOUT / "tests", capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Return what three cases of each area give: the object, and the text beside it."""
    folder = tmp_path_factory.mktemp("areas")
    for name, body in AREAS.items():
        (folder / f"{name}.py").write_text(f"{LIMITS}\n\ndef run_case(seed, folder):\n    {body}\n")
    (folder / "beside.py").write_text("FACT = 1\n")
    (folder / "unloadable.py").write_text(
        "import nothing_such\n\n\ndef run_case(seed, folder): ..."
    )
    done = fuzz(folder, "--cases", 3, "--seed", 1, "--json", "--only", "fine", "--only", "asserts")
    assert done.returncode == 1, done.stderr
    first = {area["area"]: area for area in json.loads(done.stdout)["areas"]}
    assert list(first) == ["asserts", "fine"]
    done = fuzz(folder, "--cases", 1, "--json")
    rest = {area["area"]: area for area in json.loads(done.stdout)["areas"]}
    assert list(rest) == sorted([*AREAS, "unloadable"])
    return rest | first, done.stderr


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("raises", "KeyError: 0 (raises.py:6)"),
        ("warns", "UserWarning: careful (warns.py:6)"),
        ("unloadable", "ModuleNotFoundError: No module named 'nothing_such'"),
        ("hangs", "it takes more than 3 s"),
        ("dies", "the process ended with the code -6"),
        ("fills", "it takes more than 0.2 GB of memory"),
    ],
)
def test_what_goes_wrong_is_a_finding(
    outcome: tuple[dict[str, Any], str], name: str, what: str
) -> None:
    areas, words = outcome
    assert [finding["what"] for finding in areas[name]["findings"]] == [what]
    assert f'make fuzz ARGS="--only {name} --seed 0 --cases 1"' in words


def test_a_finding_has_its_seed(outcome: tuple[dict[str, Any], str]) -> None:
    (finding,) = outcome[0]["asserts"]["findings"]
    assert (finding["seed"], finding["what"]) == (2, "two is odd (asserts.py:6)")


def test_cases_are_counted_and_the_next_seed_is_known(
    outcome: tuple[dict[str, Any], str],
) -> None:
    fine = outcome[0]["fine"]
    assert (fine["cases"], fine["next_seed"], fine["findings"]) == (3, 4, [])


def test_an_area_that_lacks_a_tool_is_skipped_and_says_so(
    outcome: tuple[dict[str, Any], str],
) -> None:
    skipped = outcome[0]["skips"]
    assert (skipped["cases"], skipped["findings"]) == (0, [])
    assert "no-such-tool missing; to run" in skipped["skipped"]


def test_without_findings_the_exit_code_is_0(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("\n\ndef run_case(seed, folder):\n    pass\n")
    done = fuzz(tmp_path, "--cases", 2)
    assert done.returncode == 0
    assert 'to go on: make fuzz ARGS="--seed 2"' in done.stdout


def test_an_unknown_area_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("\n\ndef run_case(seed, folder):\n    pass\n")
    done = fuzz(tmp_path, "--only", "nothing")
    assert done.returncode == 2
    assert "no area is called 'nothing'; choose of fine" in done.stderr
