"""`pio test`: the project's firmware on a board or on the emulated Uno, by protonn-edge's tests.

``pio test --upload-port /dev/ttyACM0 --test-port /dev/ttyACM0`` uploads it first; without a test
port the emulated Uno runs it. What comes after ``-a`` is for pytest: ``-a --pnn-data=test.csv``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import click
from platformio.test.result import TestCase, TestStatus
from platformio.test.runners.base import TestRunnerBase


class CustomTestRunner(TestRunnerBase):
    """Build and upload as `pio run` does; there is no other program for tests."""

    def stage_building(self) -> None:
        """Compile, where nothing will be uploaded."""
        if not (self.options.without_building or self._uploads):
            self.run_project_targets(["checkprogsize"])

    def stage_uploading(self) -> None:
        """Compile and upload, where there is a board."""
        if self._uploads:
            nobuild = ["nobuild"] if self.options.without_building else []
            self.run_project_targets(["upload", *nobuild])

    def stage_testing(self) -> None:
        """Run the tests in a process of their own and take over what they found."""
        if self.options.without_testing:
            return
        try:
            from protonn_edge.chips.boards import board_names  # it may be missing
            from protonn_edge.system.files import resource
        except ImportError as error:
            raise RuntimeError(
                "pio's Python has no protonn-edge; run the pio of the environment that has it"
            ) from error
        port = self.get_test_port()
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch, "report.xml")
            command = [sys.executable, "-m", "pytest", resource("hil_tests"), "-q", "-ra"]
            command += ["-o", "junit_family=xunit1", "-p", "no:cacheprovider"]
            command += [f"--rootdir={scratch}", f"--junitxml={report}", "--pnn-project", Path.cwd()]
            command += [] if port is None else ["--pnn-port", port]
            if self.test_suite.env_name in board_names():  # else -a --pnn-board=FILE.toml
                command += ["--pnn-board", self.test_suite.env_name]
            done = subprocess.run([*command, *self.options.program_args], check=False)
            if done.returncode > 1:  # neither all passed nor some failed
                raise RuntimeError(
                    "no tests ran; see above, or run pip install 'protonn-edge[test]'"
                )
            for case in ET.parse(report).iter("testcase"):  # noqa: S314  (written just now)
                self._add(case)

    @property
    def _uploads(self) -> bool:
        named = self.options.upload_port or self.get_test_port()
        return bool(named) and not self.options.without_uploading

    def _add(self, case: ET.Element) -> None:
        kinds = {"failure": "FAILED", "error": "ERRORED", "skipped": "SKIPPED"}
        found = next((part for part in case if part.tag in kinds), None)
        status = TestStatus.PASSED if found is None else TestStatus[kinds[found.tag]]
        figures = [f"{each.get('name')}={each.get('value')}" for each in case.iter("property")]
        message = None if found is None else found.get("message")
        self.test_suite.add_case(
            TestCase(
                name=case.get("name"),
                status=status,
                message=message,
                stdout=", ".join(figures),
                duration=float(case.get("time", 0)),
            )
        )
        if figures:
            click.echo(f"{case.get('name')}: {', '.join(figures)}")
