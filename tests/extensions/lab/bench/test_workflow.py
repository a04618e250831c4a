"""The commands of the documented workflow pass on the emulated board."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from command_line import succeed

DOCS = Path(__file__).parents[4] / "docs"


def test_the_workflows_commands_pass(built: Path, pytester: pytest.Pytester):
    shutil.copy(built / "test.csv", pytester.path)
    shutil.copy(built / "firmware" / "generated" / "model.npz", pytester.path)
    page = (DOCS / "testing.md").read_text("utf-8")
    example = re.search(r"<!-- file: test_board.py -->\n```python\n(.*?)```", page, re.DOTALL)
    assert example is not None
    pytester.makepyfile(test_board=example[1])
    page = (DOCS / "testing.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (workflow,) = (block for block in blocks if "pytest test_board.py" in block)
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    commands = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert [words[0] for words in commands] == ["sudo", "pip", "protonn-edge", "pytest"]
    succeed(*commands[2][1:])
    pytester.runpytest_inprocess(*commands[3][1:]).assert_outcomes(passed=1)
    assert (pytester.path / "report.xml").exists()
