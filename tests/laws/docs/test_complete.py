"""Every kind of model, board, sensor and ending of a file is on a page."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest
from checkout import CHECKOUT
from doc_blocks import PAGES
from extension_parts import additions

from protonn_edge.chips.boards import (
    export_board_names,
    firmware_board_names,
    load_export_board,
)
from protonn_edge.data.files.libsvm import LIBSVM_SUFFIXES
from protonn_edge.data.options import USUAL_DELIMITERS
from protonn_edge.data.takes.images import IMAGES
from protonn_edge.model.registry import KINDS

TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
WORDS = {*re.findall(r"[\w.+-]+", TEXT)} | {*re.findall(r"\w+(?:-\w+)*", TEXT)}
NAMES = {
    "kinds": KINDS,
    "boards": export_board_names(),
    "endings": [*USUAL_DELIMITERS, *LIBSVM_SUFFIXES, *IMAGES],
    **additions("names on pages"),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_what_can_be_named_is_on_a_page(names: list[str]) -> None:
    assert len(names) > 3
    assert [name for name in names if name not in WORDS] == []


def test_the_readme_names_every_board_with_firmware() -> None:
    readme = PAGES[0].read_text("utf-8").lower()
    titles = [load_export_board(name).title.lower() for name in firmware_board_names()]
    others = re.compile(r"arduino|raspberry|bbc|devkit|express|core|[()]|\b8 mhz|nodemcu 1.0|v2")
    names = [word for title in titles for word in others.sub("", title).split()]
    assert len(names) > 20
    assert [word for word in names if word not in readme] == []


@pytest.mark.skipif(
    find_spec("protonn_edge.extensions.agents") is None, reason="needs the extension agents"
)
def test_the_tools_of_agents_are_those_on_the_page_and_counted() -> None:
    from protonn_edge.extensions.agents.tools import TOOLS

    page = (CHECKOUT / "docs" / "agents.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [*TOOLS, "upload"]
    counts = ["seven", "eight", "nine", "ten", "eleven", "twelve"]
    assert f"do what {counts[len(TOOLS) - 7]} tools do" in page


def test_the_glossary_has_the_memory_of_an_uno() -> None:
    uno = load_export_board("uno")
    page = (CHECKOUT / "docs" / "glossary.md").read_text("utf-8")
    sizes = (uno.flash_bytes, uno.sram_bytes, uno.eeprom_bytes)
    assert [size for size in sizes if f"{size:,} B" not in page] == []
