"""Sources whose assembly is checked: the C that they become, and the rules for each statement."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from avr_tools import AVR_GCC, skip_without
from chips.assembly.rules import faults_of, faults_of_text
from chips.assembly.statements import statements_in

_FILE = re.compile(r'# \d+ "')
_OF_THE_SYSTEM = re.compile(r'# \d+ "[/<]')
_COMPILER = ("avr-gcc", "-std=gnu99", "-DF_CPU=16000000L", "-E")


def preprocessed(source: Path, mcu: str = "atmega328p") -> str:
    """Return the C that a source's own lines become, without those of the system's headers."""
    skip_without(*AVR_GCC)
    command = [*_COMPILER, f"-mmcu={mcu}", source.name]
    text = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60, cwd=source.parent
    ).stdout
    own, is_own = [], True
    for line in text.splitlines():
        if _FILE.match(line):
            is_own = _OF_THE_SYSTEM.match(line) is None
        elif is_own:
            own.append(line)
    return "\n".join(own)


def assert_rules_hold(code: str) -> int:
    """Check all statements of preprocessed C; return how many there are."""
    found = list(statements_in(code))
    for each in found:
        is_text = isinstance(each, str)
        faults = faults_of_text(each) if is_text else faults_of(each)
        assert not faults, "\n".join([*faults, "in", each if is_text else each.text])
    return len(found)
