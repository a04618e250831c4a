"""A list of features is read, checked and written back."""

from __future__ import annotations

import pytest
from refusals import refused_by

from protonn_edge.features.window_features.windows import KINDS, FeatureSet
from protonn_edge.system.errors import InputError


def test_features_come_in_one_order_whatever_the_text_says() -> None:
    features = FeatureSet.of(" bands:2, max ,mean,crossings ")
    assert features.names == ("mean", "max", "crossings", "band1", "band2")
    assert features.text == "mean,max,crossings:1,bands:2"
    assert FeatureSet.of(features.text) == features


def test_numbers_have_defaults() -> None:
    features = FeatureSet.of(",".join(KINDS))
    assert (features.bands, features.hysteresis) == (4, 1)
    assert FeatureSet.of("crossings:0").hysteresis == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mean,",
        "median",
        "mean:2",
        "bands:-1",
        "mean,mean",
        "bands:9",
        "bands:0",
        "crossings:128",
        "mean;max",
    ],
)
def test_what_is_no_list_of_features_is_one_sentence(text: str) -> None:
    with refused_by("features.window_features.windows"):
        FeatureSet.of(text)


@pytest.mark.parametrize(
    ("kinds", "numbers"),
    [((), {}), (("mean",), {"bands": 2}), (("bands",), {"bands": 2, "hysteresis": 1})],
)
def test_numbers_belong_to_a_feature(kinds: tuple[str, ...], numbers: dict[str, int]) -> None:
    with pytest.raises(InputError):
        FeatureSet(kinds, **numbers)
