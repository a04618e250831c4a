"""`make` sets up what is missing and nothing else, or says in one sentence what it needs.

The Makefile runs on a PATH of stand-ins, which note how they were called.
"""

from __future__ import annotations

import os
import re
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
    """Return a function that makes a machine with nothing on it but what it is told, and make.

    That is Debian, with packages, or no Debian if `installed` is None; a user; a Python, if it is
    not None, with or without `venv`, or too old; and programs with a script each.
    """
    skip_unless_checked_out("Makefile")
    if shutil.which("make") is None:
        pytest.skip("make is not on PATH; to run: install it")

    def made(installed=ALL_PACKAGES, *, user=0, python=(), **programs):
        machine = Machine(tmp_path)
        machine.add("id", f"echo {user}")
        if installed is not None:
            machine.add_debian(installed)
        if python is not None:
            machine.add_python(**dict(python))
        for name, script in programs.items():
            machine.add(name.replace("_", "-"), script)
        return machine

    return made


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

    def add_debian(self, installed: str) -> None:
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


TOOLS = dict.fromkeys(("avr_gcc", "avrdude", "simavr"), "")
INSTALL = f"Please install {ALL_PACKAGES}, then run make again."


@pytest.mark.parametrize(
    ("has", "target", "sentence"),
    [
        ({"installed": None}, "tools", f"Please install avr-gcc.*{ALL_PACKAGES}"),
        ({"installed": None, "user": 1000}, "tools", f"Please install avr-gcc.*{ALL_PACKAGES}"),
        ({"installed": "", "user": 1000, "python": None}, "tools", "Please install "),  # no sudo
        ({"installed": "", "python": None, "apt_get": "exit 1"}, "tools", f"{INSTALL}$"),
        (
            {"python": {"new": False}},
            "setup",
            r"Please install Python 3\.11 or newer, then run make again\.$",
        ),
        ({"installed": None, "python": {"venv": False}, **TOOLS}, "setup", ".*python3-venv"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(machine, has, target, sentence):
    there = machine(**has)
    done = there.make(target, check=False)
    assert done.returncode != 0
    (said,) = (line for line in done.stderr.splitlines() if not line.startswith("make"))
    assert re.match(sentence, said)
    assert not has.get("user") or there.calls("apt-get") == []


@pytest.mark.parametrize(
    ("has", "target", "installed"),
    [
        ({"installed": "simavr"}, "setup", [ALL_PACKAGES]),
        ({"installed": "", "user": 1000, "sudo": '"$@"'}, "setup", [ALL_PACKAGES]),
        ({"python": {"venv": False}}, "setup", ["python3-venv"]),
        ({"installed": None, "python": None, **TOOLS}, "tools", []),
        ({"installed": ""}, "docs", []),  # which needs no AVR tools
        ({}, "test", ["nodejs npm", "chromium", "cmake"]),
        ({"apt_get": "exit 1"}, "test", ["nodejs npm", "chromium", "cmake"]),  # it runs without
        ({"node": "", "npm": "", "chromium": "", "cmake": ""}, "test", []),
        ({"node": "", "npm": "", "google_chrome": "", "cmake": ""}, "test", []),
    ],
)
def test_what_is_missing_is_installed_and_nothing_else(machine, has, target, installed):
    there = machine(**has)
    done = there.make(target, check="apt_get" not in has or target == "test")
    asked = [call for call in there.calls("apt-get") if call.startswith("install")]
    assert not asked or there.calls("apt-get")[0].startswith("update")
    assert len(asked) == len(installed)
    assert all(call.endswith(f" {names}") for call, names in zip(asked, installed, strict=True))
    assert len(there.calls("sudo")) == ("sudo" in has) * len(there.calls("apt-get"))
    assert ("sudo apt-get install" in done.stdout) == ("sudo" in has)
    if target == "test":
        assert there.calls("pip")[-1] == "-m pytest -n auto --dist loadfile"


def test_pip_is_called_once_with_the_constraints_and_says_one_line(machine):
    there = machine()
    said = there.make("setup").stdout.splitlines()
    (call,) = there.calls("pip")
    assert "--constraint constraints.txt --editable .[test]" in call
    assert said[0] == "python3 -m venv .venv"
    assert said[1].startswith("pip install --editable '.[test]'  # silent for up to ")
    assert len(said) == 2
    there.make("setup")
    assert there.calls("apt-get") == there.calls("pip") == there.calls("python3") == []


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_dependency_is_installed_again(machine, name):
    there = machine()
    there.make("setup")
    later = (there.folder / ".venv" / "has-test").stat().st_mtime + 10
    os.utime(there.folder / name, (later, later))
    there.make("setup")
    assert len(there.calls("pip")) == 1
    assert there.calls("python3") == []


@pytest.mark.parametrize(
    ("target", "extra"), [(".venv/has-lint", "lint"), ("docs", "docs"), ("setup", "test")]
)
def test_each_target_has_an_extra_of_its_own(machine, target, extra):
    there = machine()
    there.make(target)
    install, *others = there.calls("pip")
    assert f"--editable .[{extra}]" in install
    assert others == ["-m sphinx -W --keep-going -n -q docs docs/_build"] * (target == "docs")


def test_a_newer_python_than_the_first_is_found(machine):
    there = machine(python={"new": False})
    there.add_python("python3.12")
    assert "python3.12 -m venv .venv" in there.make("setup").stdout


def test_help_lists_every_target_with_a_sentence(machine):
    there = machine(None, python=None)
    said = there.make("help").stdout
    assert there.make().stdout == said
    for target in ("demo", "setup", "test", "lint", "docs", "firmware", "upload", "clean"):
        assert f"\n{target} " in said


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("", "-n auto --dist loadfile"),
        ("core", "-n auto --dist loadfile --ignore=tests/extensions"),
        ("tests/core -k core", "tests/core -k core"),
        ("tests/cli/test_tune.py::test[a=b]", "tests/cli/test_tune.py::test[a=b]"),
    ],
)
def test_tests_are_chosen_by_a_word_or_by_what_pytest_is_given(machine, asked, given):
    *_, last = machine().make("-n", "test", f"ARGS={asked}").stdout.splitlines()
    assert last == f".venv/bin/python -m pytest {given}"
