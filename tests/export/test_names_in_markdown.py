"""Names from data are read in a library's README as they are, and are no markup."""

from __future__ import annotations

import pytest

from protonn_edge.codegen.export.rendering import _markdown


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("nitrate (mg/l), 5 %", "nitrate (mg/l), 5 %"),
        ("a|b", "a&#124;b"),
        ("</b>", "&#60;/b&#62;"),
        ("http://x", "http:&#47;&#47;x"),
    ],
)
def test_a_unit_is_written_plainly(name: str, written: str) -> None:
    assert _markdown(name) == written
