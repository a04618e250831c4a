"""The example of `pnn_monitor` in the documentation works, also where two processes compile."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from protonn_edge.extensions.lab import plugin

PAGE = Path(__file__).parents[4] / "docs" / "testing.md"


@pytest.fixture
def folder(light: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(light, pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider --pnn-project live")
    example = PAGE.read_text().partition("<!-- file: test_light.py -->\n```python\n")[2]
    pytester.makepyfile(test_light=example.partition("```")[0])
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
