"""The plans of known programs have known costs: a change of a cost is a change of a file."""

from __future__ import annotations

import pytest
from conformance.instances import KINDS
from conformance.renew_costs import KNOWN, lines_of


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_those_that_were_reviewed(kind: str) -> None:
    known = (KNOWN / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    assert list(lines_of(kind)) == known, (
        "the costs of plans differ; if that is intended, run python "
        "tests/conformance/renew_costs.py, review the difference, and commit it"
    )
