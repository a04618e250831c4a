"""Uploads to the emulated bootloader, which listens for a second after each reset, as the real one.

On a busy machine avrdude may not come to speak within it; then it tries for a minute, in vain. Each
time that it opens the port the board is reset, so that another attempt finds the bootloader
listening again.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TypeVar

from protonn_edge.system.errors import CheckFailed

UPLOAD_DEADLINE_S = 60.0
"""The longest that an attempt may take; on a machine that has time, it takes two seconds."""

_Done = TypeVar("_Done")
_ATTEMPTS = 8
_IN_VAIN = ("avrdude", "was stopped because it took more than")


def upload_patiently(upload: Callable[[], _Done]) -> _Done:
    """Run an upload, perhaps by a command, again if avrdude found nobody, a few times."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return upload()
        except (CheckFailed, subprocess.TimeoutExpired, AssertionError) as error:
            if not any(words in str(error) for words in _IN_VAIN):
                raise
    return upload()
