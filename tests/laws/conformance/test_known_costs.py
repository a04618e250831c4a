"""The plans of known programs have known costs: a change of a cost is a change of a file."""

from __future__ import annotations

import pytest
from laws.conformance.instances import KINDS, modules_of
from laws.conformance.renew_costs import known_costs_of, lines_of


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_those_that_were_reviewed(kind: str) -> None:
    for module in modules_of(kind):
        known = known_costs_of(module).read_text(encoding="utf-8").splitlines()
        assert list(lines_of(module)) == known, (
            "the costs of plans differ; if that is intended, run python "
            "tests/laws/conformance/renew_costs.py, review the difference, and commit it"
        )
