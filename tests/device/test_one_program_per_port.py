"""Two programs on one serial port took bytes in turn: each lost replies, or took the other's."""

from __future__ import annotations

import contextlib
import os
import re
import sys

import pytest

from protonn_edge.device.connection import Link, LinkError

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="needs pseudo-terminals; to run: use Linux or macOS"
)


def test_a_port_that_is_in_use_is_refused_until_it_is_closed():
    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        with contextlib.closing(Link(name, 9600)) as first:
            words = f"cannot open {re.escape(name)} .*no other program uses it, or choose another"
            with pytest.raises(LinkError, match=words):
                Link(name, 9600)
            os.write(master, b"reply\n")
            assert first.read(10) == b"reply\n"
        Link(name, 9600).close()
    finally:
        os.close(master)
        os.close(slave)
