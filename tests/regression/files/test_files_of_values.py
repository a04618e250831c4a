"""Files of models that predict numbers hold what a device can compute, or are refused at once."""

from __future__ import annotations

import pytest
from policy.value.numbers import fitted
from refusals import refused_by

from protonn_edge.model.policy import Units, with_rules
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.policy.value.rule import IntegerValue, Value


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e300])
def test_a_scale_that_no_device_has_is_refused(scale: float) -> None:
    with refused_by("value.scale"):
        Value(scale, 0.0, 2)


def test_labels_in_a_unit_that_is_too_small_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match="larger unit"):
        IntegerValue.of(Value(2e7, 5e7, 0), Units(0.1, 255, 1, 0, (-100, 100)))


def test_a_number_cannot_be_an_unknown_class() -> None:
    with refused_by("model.policy"):
        with_rules(fitted("linear").model_, Rejection(0.5))
