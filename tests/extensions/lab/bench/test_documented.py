"""What the documentation shows works on the emulated board, also in two processes at once."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from command_line import succeed

from protonn_edge.extensions.lab import pytest_plugin as plugin

PAGE = (Path(__file__).parents[4] / "docs" / "testing.md").read_text("utf-8")


def example(name: str) -> str:
    """Return the file of this name that the page shows."""
    found = re.search(rf"<!-- file: {re.escape(name)} -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None, name
    return found[1]


def test_the_workflows_commands_pass(built: Path, pytester: pytest.Pytester):
    shutil.copy(built / "test.csv", pytester.path)
    shutil.copy(built / "firmware" / "generated" / "model.npz", pytester.path)
    pytester.makepyfile(test_board=example("test_board.py"))
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (workflow,) = (block for block in blocks if "pytest test_board.py" in block)
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    commands = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert [words[0] for words in commands] == ["sudo", "pip", "protonn-edge", "pytest"]
    succeed(*commands[2][1:])
    pytester.runpytest_inprocess(*commands[3][1:]).assert_outcomes(passed=1)
    assert (pytester.path / "report.xml").exists()


@pytest.fixture
def folder(light: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(light, pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider --pnn-project live")
    pytester.makepyfile(test_light=example("test_light.py"))
    return pytester


def test_the_example_passes_and_processes_compile_copies(folder, monkeypatch):
    monkeypatch.setattr(plugin, "_IS_WORKER", True)
    done = folder.runpytest_inprocess("test_light.py", "--pnn-sensor", "a0=light.csv,rate=50")
    done.assert_outcomes(passed=1)
    assert not (folder.path / "live" / ".pio").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "*the firmware reads analog*give one with --pnn-sensor NAME=FILE"),
        (["--pnn-sensor", "a0"], "*--pnn-sensor is 'a0'; give NAME=FILE*"),
        (["--pnn-sensor", "a0=light.csv", "--pnn-port", "x"], "*omit --pnn-sensor or --pnn-port"),
        (["--pnn-project", "."], "*has no firmware that reads a sensor*"),
    ],
)
def test_a_wrong_sensor_is_an_error_of_one_sentence(folder, options, words):
    done = folder.runpytest_inprocess("test_light.py", *options)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([words])
    done.stdout.no_fnmatch_line("*Traceback*")
