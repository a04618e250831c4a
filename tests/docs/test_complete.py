"""Every kind of model, board, sensor and ending of a file is on a page."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from doc_blocks import PAGES

from protonn_edge.chips.boards import export_board_names
from protonn_edge.data.images import IMAGES
from protonn_edge.data.libsvm import LIBSVM_SUFFIXES
from protonn_edge.data.options import USUAL_DELIMITERS
from protonn_edge.model.registry import KINDS

TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
WORDS = {*re.findall(r"[\w.+-]+", TEXT)} | {*re.findall(r"\w+(?:-\w+)*", TEXT)}
SENSORS = [
    path.name.removesuffix(".toml")
    for path in files("protonn_edge.extensions.sensing").iterdir()
    if path.name.endswith(".toml")
]


@pytest.mark.parametrize(
    "names",
    [KINDS, export_board_names(), SENSORS, [*USUAL_DELIMITERS, *LIBSVM_SUFFIXES, *IMAGES]],
    ids=["kinds", "boards", "sensors", "endings"],
)
def test_what_can_be_named_is_on_a_page(names: list[str]) -> None:
    assert len(names) > 3
    assert [name for name in names if name not in WORDS] == []
