"""`make` sets up what is missing and nothing else, or says in one sentence what it needs.

The Makefile runs on a PATH of stand-ins, which note how they were called.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import CHECKOUT, skip_unless_checked_out

ORDINARY = ("sh", "bash", "env", "grep", "sed", "expand", "touch", "mkdir", "cat", "tr", "seq")
ALL_PACKAGES = (
    "gcc-avr avr-libc simavr libsimavr-dev avrdude arduino-core-avr "
    "gcc-arm-none-eabi libnewlib-arm-none-eabi"
)


@pytest.fixture
def machine(tmp_path):
    """Return a machine with nothing on it but a shell and make."""
    skip_unless_checked_out("Makefile")
    if shutil.which("make") is None:
        pytest.skip("make is not on PATH; to run: install it")
    return Machine(tmp_path)


class Machine:
    """A folder with the Makefile, and a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._programs = folder / "clone", folder / "bin"
        self._notes = folder / "notes"
        self.folder.mkdir()
        self._programs.mkdir()
        for name in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(CHECKOUT / name, self.folder)
        for name in ORDINARY:
            (self._programs / name).symlink_to(shutil.which(name))

    def add(self, name: str, script: str = "") -> None:
        """Add a program that notes its arguments and runs `script`."""
        path = self._programs / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self._notes}"\n{script}\n')
        path.chmod(0o755)

    def add_debian(self, installed: str, user: int = 0) -> None:
        """Add Debian's package manager, which installs whatever it is told to."""
        self._state = self.folder / "installed"
        self._state.write_text("\n".join(installed.split()) + "\n")
        self.add(
            "dpkg-query",
            'while [ "$1" != -f ]; do shift; done; shift 2\n'
            f'for p; do grep -qx "$p" "{self._state}" && echo installed; done; true',
        )
        self.add(
            "apt-get",
            f'[ "$1" = install ] && for p; do echo "$p" >>"{self._state}"; done; true',
        )
        self.add("id", f"echo {user}")

    def add_python(self, name: str = "python3", *, venv: bool = True, new: bool = True) -> None:
        """Add a Python; its virtual environments hold the stand-in for another one."""
        works = "exit 0" if venv else "exit 1"
        inner = f'#!/bin/sh\necho "pip $*" >>"{self._notes}"\n'
        self.add(
            name,
            f'case "$*" in *version_info*) exit {0 if new else 1};; *ensurepip*) {works};; esac\n'
            'while [ "$1" != --clear ]; do shift; done; mkdir -p "$2/bin"\n'
            f"cat >\"$2/bin/python\" <<'END'\n{inner}END\n"
            'PATH=/bin:/usr/bin chmod +x "$2/bin/python"',
        )

    def make(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run make; the notes are those of this run alone."""
        self._notes.write_text("")
        return subprocess.run(
            [shutil.which("make"), *arguments],
            cwd=self.folder,
            env={"PATH": str(self._programs), "HOME": str(self.folder)},
            check=check,
            timeout=60,
            capture_output=True,
            text=True,
        )

    def calls(self, program: str) -> list[str]:
        """Return the arguments of each call of a program."""
        lines = self._notes.read_text().splitlines()
        return [line.removeprefix(program + " ") for line in lines if line.startswith(program)]


def sentences(text: str) -> list[str]:
    """Return what was said, without make's own words."""
    return [line for line in text.splitlines() if not line.startswith("make")]


def test_on_debian_what_is_missing_is_installed_once(machine):
    machine.add_debian(installed="simavr")
    machine.add_python()
    machine.make("setup")
    update, install = machine.calls("apt-get")
    assert update.startswith("update")
    assert install.startswith("install")
    assert install.endswith(ALL_PACKAGES)
    assert len(machine.calls("pip")) == 1
    machine.make("setup")
    assert machine.calls("apt-get") == machine.calls("pip") == machine.calls("python3") == []


def test_pip_takes_the_constraints_and_says_one_line(machine):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python()
    said = machine.make("setup").stdout.splitlines()
    (call,) = machine.calls("pip")
    assert "--constraint constraints.txt --editable .[test]" in call
    assert said[0] == "python3 -m venv .venv"
    assert said[1].startswith("pip install --editable '.[test]'  # silent for up to ")
    assert len(said) == 2


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_dependency_is_installed_again(machine, name):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python()
    machine.make("setup")
    later = (machine.folder / ".venv" / "has-test").stat().st_mtime + 10
    os.utime(machine.folder / name, (later, later))
    machine.make("setup")
    assert len(machine.calls("pip")) == 1
    assert machine.calls("python3") == []


def test_the_linters_are_no_part_of_the_set_up_for_tests(machine):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python()
    machine.make("setup")
    assert "lint" not in "".join(machine.calls("pip"))
    machine.make(".venv/has-lint")
    assert ".[lint]" in machine.calls("pip")[0]


def test_the_documentation_needs_no_avr_tools(machine):
    machine.add_debian(installed="")
    machine.add_python()
    machine.make("docs")
    assert machine.calls("apt-get") == []
    install, build = machine.calls("pip")
    assert "--editable .[docs]" in install
    assert build == "-m sphinx -W --keep-going -n -q docs docs/_build"


def test_another_user_than_root_installs_with_sudo(machine):
    machine.add_debian(installed="", user=1000)
    machine.add("sudo", '"$@"')
    machine.add_python()
    said = machine.make("setup").stdout
    assert f"sudo apt-get install {ALL_PACKAGES}" in said
    assert len(machine.calls("sudo")) == len(machine.calls("apt-get")) == 2


@pytest.mark.parametrize("user", [0, 1000])
def test_where_nothing_can_be_installed_one_sentence_says_what_is_missing(machine, user):
    machine.add("id", f"echo {user}")
    machine.add_python()
    done = machine.make("tools", check=False)
    assert done.returncode != 0
    (sentence,) = sentences(done.stderr)
    assert sentence.startswith("Please install avr-gcc")
    assert ALL_PACKAGES in sentence


def test_where_debian_has_no_sudo_one_sentence_says_what_is_missing(machine):
    machine.add_debian(installed="", user=1000)
    done = machine.make("tools", check=False)
    assert done.returncode != 0
    assert len(sentences(done.stderr)) == 1
    assert machine.calls("apt-get") == []


def test_elsewhere_tools_on_the_path_are_enough(machine):
    for tool in ("avr-gcc", "avrdude", "simavr"):
        machine.add(tool)
    assert machine.make("tools").stderr == ""


def test_an_installation_that_fails_stops_with_one_sentence(machine):
    machine.add_debian(installed="")
    machine.add("apt-get", "exit 1")
    done = machine.make("tools", check=False)
    assert done.returncode != 0
    assert sentences(done.stderr) == [f"Please install {ALL_PACKAGES}, then run make again."]


@pytest.mark.parametrize("apt_get_works", [True, False])
def test_tests_run_with_node_and_a_browser_or_without(machine, apt_get_works):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python()
    if not apt_get_works:
        machine.add("apt-get", "exit 1")
    machine.make("test")
    asked = [call for call in machine.calls("apt-get") if call.startswith("install")]
    assert [call.rpartition("=300 ")[2] for call in asked] == ["nodejs npm", "chromium"]
    assert machine.calls("pip")[-1] == "-m pytest -n auto --dist loadfile"


@pytest.mark.parametrize("browser", ["chromium", "google-chrome"])
def test_node_and_a_browser_that_are_there_are_enough(machine, browser):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python()
    machine.add("node")
    machine.add("npm")
    machine.add(browser)
    machine.make("test")
    assert machine.calls("apt-get") == []


def test_a_newer_python_than_the_first_is_found(machine):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python(new=False)
    machine.add_python("python3.12")
    assert "python3.12 -m venv .venv" in machine.make("setup").stdout


def test_without_a_new_python_one_sentence_says_so(machine):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python(new=False)
    done = machine.make("setup", check=False)
    assert done.returncode != 0
    assert sentences(done.stderr) == ["Please install Python 3.11 or newer, then run make again."]


def test_debians_python_without_venv_is_completed(machine):
    machine.add_debian(installed=ALL_PACKAGES)
    machine.add_python(venv=False)
    machine.make("setup")
    assert machine.calls("apt-get")[-1].endswith("python3-venv")


def test_elsewhere_a_python_without_venv_is_said(machine):
    for tool in ("avr-gcc", "avrdude", "simavr"):
        machine.add(tool)
    machine.add("id", "echo 0")
    machine.add_python(venv=False)
    done = machine.make("setup", check=False)
    assert done.returncode != 0
    (sentence,) = sentences(done.stderr)
    assert "python3-venv" in sentence


def test_help_lists_every_target_with_a_sentence(machine):
    said = machine.make("help").stdout
    assert machine.make().stdout == said
    for target in ("demo", "setup", "test", "lint", "docs", "firmware", "upload", "clean"):
        assert f"\n{target} " in said
