"""What docs/boards.md says of boards is so; tests/laws/docs runs its commands."""

from __future__ import annotations

import re

from avr_tools import needs_emulated_avr
from checkout import CHECKOUT
from command_line import succeed
from doc_blocks import blocks_of

from protonn_edge.chips.boards import KEYS, board_names, load_board
from protonn_edge.chips.toolchain.platformio import run_pio

PAGE = CHECKOUT / "docs" / "boards.md"
DOCUMENT = PAGE.read_text(encoding="utf-8")


@needs_emulated_avr
def test_its_board_is_added_by_its_one_file(tmp_path, monkeypatch, model_file):
    monkeypatch.chdir(model_file.parent)
    (example,) = (block.text for block in blocks_of(PAGE) if block.language == "toml")
    (tmp_path / "sensor_node.toml").write_text(example)
    said = succeed("build", "--board", "sensor_node.toml", "model.npz", "-o", "node").stdout
    assert "fits sensor_node" in said
    run_pio(tmp_path / "node", "run", deadline_s=120)
    assert (tmp_path / "node" / ".pio" / "build" / "sensor_node" / "firmware.hex").is_file()
    assert load_board("sensor_node.toml").mcu == "atmega644p"


def test_its_table_has_every_board():
    rows = re.findall(r"^\| ([a-z0-9]+) \| \S+.* \| 450 \| 0 \|", DOCUMENT, re.MULTILINE)
    assert rows == board_names()


def test_it_explains_every_key():
    explained = set(re.findall(r"`([a-z0-9_]+)`", DOCUMENT[DOCUMENT.index("| key |") :]))
    assert set(KEYS) <= explained
