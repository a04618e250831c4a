"""Sentences are those of Python here, unless a test speaks for another interface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protonn_edge.system.wording import PYTHON, speaking


@pytest.fixture(autouse=True, scope="module")
def interface() -> Iterator[None]:
    """Have sentences in the words of Python."""
    with speaking(PYTHON):
        yield
