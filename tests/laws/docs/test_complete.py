"""Every kind of model, board, sensor and ending of a file is on a page."""

from __future__ import annotations

import re

import pytest
from doc_blocks import PAGES
from extension_parts import additions

from protonn_edge.chips.boards import export_board_names
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
