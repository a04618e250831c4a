"""The GitHub Action of this repository passes, and fails where a limit is exceeded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import CHECKOUT, skip_unless_checked_out

DEADLINE_S = 300.0


def run(folder: Path, **limits: str) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps after the installation as GitHub does, until one fails."""
    skip_unless_checked_out("action.yml")
    action = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))
    inputs = {name: declared["default"] for name, declared in action["inputs"].items()} | limits
    done = []
    for step in action["runs"]["steps"][2:]:
        done.append(run_step(step, inputs, folder))
        if done[-1].returncode:
            break
    return done


def run_step(
    step: dict[str, Any], inputs: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a step in Bash, which ends at the first command that fails, also within a pipe."""
    named = {
        variable: inputs[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]]
        for variable, value in step["env"].items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    github = {"RUNNER_TEMP": str(folder / "temp"), "GITHUB_STEP_SUMMARY": str(folder / "said.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **github, **named, "PATH": path},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """Return a folder with a model and its test points, as in a user's repository."""
    shutil.copy(built / "test.csv", tmp_path)
    shutil.copy(built / "firmware" / "generated" / "model.npz", tmp_path)
    (tmp_path / "temp").mkdir()
    return tmp_path


def test_a_model_within_the_limits_passes_and_a_worse_one_fails(folder: Path):
    done = run(folder, **{"min-accuracy": "50", "max-ms": "10", "max-flash": "16kB"})
    assert [step.returncode for step in done] == [0, 0], done
    assert "| at least 50 |" in (folder / "said.md").read_text()
    assert {"report.html", "report.json"} <= {path.name for path in folder.iterdir()}
    figures = json.loads((folder / "report.json").read_text())
    (folder / "report.json").write_text(json.dumps({**figures, "accuracy": 0.499}))
    compare = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))["runs"]["steps"][-1]
    limits = {"min-accuracy": "50", "max-ms": "10", "max-flash": "", "max-sram": ""}
    assert run_step(compare, {**limits, "report": "report.html"}, folder).returncode == 1


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"min-accuracy": "95%"}, "plain numbers, such as 90 and 0.5, not '95%'"),
        ({"min-accuracy": ""}, "not ''"),
        ({"min-accuracy": "nan"}, "not 'nan'"),
        ({"max-ms": "0.5ms"}, "not '0.5ms'"),
        ({"min-accuracy": "0.95"}, "is in percent, such as 90, not 0.95"),
        ({"min-accuracy": "1.0"}, "is in percent, such as 90, not 1.0"),
    ],
)
def test_limits_that_are_no_numbers_are_refused_before_the_build(
    tmp_path: Path, limits: dict[str, str], said: str
):
    """They led to a traceback after the measurement, and 'nan' and 0.95 let every model pass."""
    (failed,) = run(tmp_path, **limits)
    assert failed.returncode == 2
    assert said in failed.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_report_in_a_new_folder_and_answers_without_an_accuracy(folder: Path):
    names = {"report": "reports/new.html"}
    assert [step.returncode for step in run(folder, **names)] == [0, 0]
    figures = json.loads((folder / "reports" / "new.json").read_text())
    (folder / "reports" / "new.json").write_text(json.dumps({**figures, "accuracy": None}))
    compare = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))["runs"]["steps"][-1]
    limits = {"min-accuracy": "0", "max-ms": "9", "max-flash": "", "max-sram": ""}
    failed = run_step(compare, {**limits, **names}, folder)
    assert (failed.returncode, "Traceback" in failed.stderr) == (1, False)
    assert "no accuracy to compare" in failed.stderr


def test_a_model_that_became_too_large_fails(folder: Path):
    (failed,) = run(folder, **{"max-flash": "1kB"})
    assert failed.returncode == 1
    assert "with your limits" in failed.stderr
    assert not (folder / "report.html").exists()
