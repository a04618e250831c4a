"""Networks with one output, which may be a number or decide between two classes."""

from __future__ import annotations

from typing import Any

from protonn_edge.chain.registry import converter_with
from protonn_edge.conversion.search import Rule
from protonn_edge.errors import InvalidValue


def of_number(network: Any, name: str) -> Rule:
    """Return a network, called by this name, whose only output is a number."""
    if not network.plain:
        raise InvalidValue(
            f"labels for {name}",
            "numbers, but it does not end in one output without a Sigmoid",
            "use labels that are classes, or a network of one linear output",
        )
    rule: Rule = converter_with("number_of")(network)
    return rule
