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

from protonn_edge.learn.evaluation.figures import accuracy_figure
from protonn_edge.system.figures import Figure

DEADLINE_S = 300.0


def run(folder: Path, **limits: str) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps after the installation as GitHub does, until one fails."""
    skip_unless_checked_out("action.yml")
    done = []
    for step in action()["runs"]["steps"][2:]:
        done.append(run_step(step, limits, folder))
        if done[-1].returncode:
            break
    return done


def action() -> dict[str, Any]:
    """Return the content of action.yml."""
    read: dict[str, Any] = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))
    return read


def compare(
    folder: Path, figures: list[Figure], **limits: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run the last step on figures; return it, and the summary that it writes."""
    skip_unless_checked_out("action.yml")
    every = [
        *figures,
        Figure("latency_ms", "latency", 2.5, "ms", 3, "less", spread={"max": 3}),
        Figure("flash_bytes", "flash", 9_000, "B", 0, "less", limit=32_256),
    ]
    record = {"figures": [each.to_json() for each in every]}
    (folder / "report.json").write_text(json.dumps(record), "utf-8")
    done = run_step(action()["runs"]["steps"][-1], limits, folder)
    return done, done.stdout


def run_step(
    step: dict[str, Any], given: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a step in Bash, which ends at the first command that fails, also within a pipe."""
    inputs = {name: each["default"] for name, each in action()["inputs"].items()} | given
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
    limits = {"min-accuracy": "50", "max-ms": "10", "max-flash": "16kB"}
    assert action()["inputs"]["report"]["default"] == "report.html"  # of all other tests
    done = run(folder, report="reports/new.html", **limits)
    assert [step.returncode for step in done] == [0, 0], done
    assert "| at least 50 |" in (folder / "said.md").read_text()
    assert {each.name for each in (folder / "reports").iterdir()} == {"new.html", "new.json"}
    done, _ = compare(folder, [accuracy_figure(0.499, 1_000)], **{"min-accuracy": "50"})
    assert done.returncode == 1


ACCURATE = [accuracy_figure(0.95, 100)]
NEAR = [Figure("mean_absolute_error", "mean absolute error", 0.25, digits=None, better="less")]


@pytest.mark.parametrize(
    ("figures", "limits", "said", "row"),
    [
        (
            ACCURATE,
            {"min-accuracy": "96"},
            "accuracy is 95.00, but must be at least 96",
            "accuracy",
        ),
        (ACCURATE, {"max-ms": "2"}, "latency is 2.500, but must be at most 2", "latency"),
        (
            NEAR,
            {"max-error": "0.2"},
            "mean absolute error is 0.25, but must be at most 0.2",
            "mean",
        ),
        (NEAR, {"max-error": "0"}, "mean absolute error is 0.25, but must be at most 0", "mean"),
        (NEAR, {"min-accuracy": "90"}, "min-accuracy is for models that predict classes", None),
        (ACCURATE, {"max-error": "0.2"}, "max-error is for models that predict numbers", None),
        ([], {}, "no accuracy to compare", None),
        (ACCURATE, {}, None, None),
        (ACCURATE, {"min-accuracy": "95", "max-ms": "2.5"}, None, None),
        (NEAR, {"max-error": "0.25"}, None, None),
    ],
)
def test_the_limit_that_failed_is_an_annotation_and_marked_in_its_row(
    tmp_path: Path, figures: list[Figure], limits: dict[str, str], said: str | None, row: str
):
    done, summary = compare(tmp_path, figures, **limits)
    annotations = [line for line in done.stderr.splitlines() if line.startswith("::error::")]
    assert "Traceback" not in done.stderr
    assert done.returncode == int(said is not None)
    assert len(annotations) == done.returncode
    assert said is None or said in annotations[0]
    marked = [line for line in summary.splitlines() if "❌" in line]
    assert [line.split()[1].rstrip(",") for line in marked] == ([row] if row else [])
    rows_of_memory = [line for line in summary.splitlines() if "flash" in line]
    if rows_of_memory:
        assert rows_of_memory == ["| flash, B | 9,000 | at most 32256 | ✅ |"]
    else:
        assert said is not None


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"min-accuracy": "95%"}, "plain numbers, such as 90 and 0.5, not '95%'"),
        ({"min-accuracy": ""}, "not ''"),
        ({"min-accuracy": "nan"}, "not 'nan'"),
        ({"max-ms": "0.5ms"}, "not '0.5ms'"),
        ({"max-error": "5%"}, "not '5%'"),
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


def test_a_model_that_became_too_large_fails(folder: Path):
    (failed,) = run(folder, **{"max-flash": "1kB"})
    assert failed.returncode == 1
    assert re.search(r"^::error::the model needs .* with your limits", failed.stderr, re.MULTILINE)
    assert (folder / "said.md").read_text("utf-8").startswith("❌ the model needs ")
    assert not (folder / "report.html").exists()
