"""The schema of a finished trial in a search's file: every field, its type and its range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from protonn_edge.kinds.plans import PLANS
from protonn_edge.system.schema import (
    Check,
    list_of,
    number,
    one_of,
    optional,
    record_of,
    text,
    whole,
)
from protonn_edge.tuning.limits import LIMIT_NAMES

_FOLDS = 20
_REASON_LENGTH = 1_000

_SHARE = number(0, 1)
_FIGURES = record_of(
    {
        "kernel": one_of(*PLANS),
        "flash_bytes": whole(
            -(10**5), 10**9
        ),  # negative if the estimate for the firmware is too large
        "sram_bytes": whole(0, 10**9),
        "worst_cycles": whole(0, 10**15),
        "mean_cycles": number(0, 1e15),
    }
)
_TRIAL: dict[str, Check] = {
    "number": whole(0, 10**9),
    "outcome": one_of("complete", "pruned", "rejected", "failed"),
    "figures": optional(_FIGURES),
    "accuracies": list_of(_SHARE, _FOLDS),
    "rungs": list_of(
        lambda pair: isinstance(pair, list) and len(pair) == 2 and all(map(_SHARE, pair)), 100
    ),
    "seconds": number(0, 1e12),
    "reason": text(_REASON_LENGTH),
    "excess": lambda value: (
        isinstance(value, dict)
        and value.keys() <= LIMIT_NAMES
        and all(map(number(0, 1e300), value.values()))
    ),
    "is_default": lambda value: type(value) is bool,
}


def is_trial(attributes: Any) -> bool:
    """Return whether a trial in a file is one that `Record` writes."""
    if not isinstance(attributes, dict) or attributes.keys() != _TRIAL.keys():
        return False
    if not all(holds(attributes[name]) for name, holds in _TRIAL.items()):
        return False
    # A complete trial has accuracies and figures, one that does not fit has figures.
    measured = attributes["figures"] is not None
    return {
        "complete": measured and len(attributes["accuracies"]) > 1,
        "rejected": measured and len(attributes["excess"]) > 0,
        "pruned": True,
        "failed": True,
    }[attributes["outcome"]]


def are_settings(settings: Any, distributions: Mapping[str, BaseDistribution]) -> bool:
    """Return whether settings of a trial can have been drawn from these distributions."""
    return (
        isinstance(settings, dict)
        and settings.keys() == distributions.keys()
        and all(_contains(each, settings[name]) for name, each in distributions.items())
    )


def _contains(distribution: BaseDistribution, value: Any) -> bool:
    if isinstance(distribution, CategoricalDistribution):
        return any(
            value == choice and type(value) is type(choice) for choice in distribution.choices
        )
    if isinstance(distribution, IntDistribution):
        return type(value) is int and distribution.low <= value <= distribution.high
    return (
        isinstance(distribution, FloatDistribution)
        and type(value) is float
        and distribution.low <= value <= distribution.high
    )
