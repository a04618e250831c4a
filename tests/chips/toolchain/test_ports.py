"""Which serial port is taken, and why."""

from __future__ import annotations

import re

import pytest
from refusals import refused_by
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain.ports import find_port

UNO, NANO = (0x2341, 0x0043), (0x1A86, 0x7523)
MEGA, MOUSE = (0x2341, 0x0042), (0x046D, 0xC077)


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch):
    def plug_in(**there: tuple[int, int] | None) -> None:
        found = []
        for name, identity in there.items():
            port = ListPortInfo(f"/dev/{name}")
            if identity is not None:
                port.vid, port.pid = identity
            found.append(port)
        monkeypatch.setattr(list_ports, "comports", lambda: found)

    return plug_in


@pytest.mark.parametrize(
    ("there", "taken", "why"),
    [
        ({"ttyS0": None, "ttyACM1": UNO}, "ttyACM1", "Arduino Uno, USB 2341:0043; not /dev/ttyS0"),
        ({"ttyUSB0": NANO, "ttyACM0": UNO}, "ttyACM0", r"not /dev/ttyUSB0 \(a CH340"),
        ({"ttyACM0": MEGA, "ttyACM1": UNO}, "ttyACM1", r"not /dev/ttyACM0 \(.*Mega"),
        ({"ttyUSB0": MOUSE, "ttyUSB1": NANO}, "ttyUSB1", "a CH340 adapter, as on many Nanos"),
        ({"ttyUSB7": MOUSE}, "ttyUSB7", "a USB device, USB 046D:C077"),
        ({"ttyACM1": UNO, "ttyACM0": UNO}, "ttyACM0", "use --port to choose another"),
    ],
)
def test_the_port_that_a_board_is_most_likely_at_is_taken(plug_in, there, taken, why) -> None:
    plug_in(**there)
    found = find_port(load_board("uno"))
    assert found.device == f"/dev/{taken}"
    assert re.search(why, found.why), found.why


@pytest.mark.parametrize("there", [{}, {"ttyS0": None, "ttyS1": None}])
def test_a_port_that_is_not_on_usb_is_never_taken(plug_in, there) -> None:
    plug_in(**there)
    with refused_by("chips.toolchain.ports"):
        find_port(load_board("uno"))
