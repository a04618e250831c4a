"""The example of docs/contributing.md, known to the package while a test runs."""

from __future__ import annotations

import pytest
from checkout import CHECKOUT
from jinja2 import ChoiceLoader, FileSystemLoader

from protonn_edge.codegen.kernels.kernel import KERNELS
from protonn_edge.codegen.renderer import PREFIX, template_environment
from protonn_edge.model import registry

EXAMPLE = CHECKOUT / "docs" / "adding-a-stage"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the example where the package's own kinds of stages are."""
    monkeypatch.syspath_prepend(EXAMPLE)
    from scale import kernels

    monkeypatch.setitem(KERNELS, "scale", kernels.kernels)
    monkeypatch.setitem(registry._STAGE_FOLDERS, "scale", "scale")
    environment = template_environment("c", PREFIX)
    assert environment.loader is not None
    both = ChoiceLoader([environment.loader, FileSystemLoader(EXAMPLE)])
    monkeypatch.setattr(environment, "loader", both)
