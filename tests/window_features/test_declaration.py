"""A list of features is read, checked and written back."""

from __future__ import annotations

import pytest

from protonn_edge.errors import InputError
from protonn_edge.features.window_features.windows import KINDS, FeatureSet


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
    ("text", "sentence"),
    [
        ("", "'' is not a feature"),
        ("mean,", "'' is not a feature"),
        ("median", "no feature 'median'"),
        ("mean:2", "'mean:2' is not a feature"),
        ("bands:-1", "'bands:-1' is not a feature"),
        ("mean,mean", "'mean' is given twice"),
        ("bands:9", "number of bands is 9; give 1 to 8"),
        ("bands:0", "number of bands is 0"),
        ("crossings:128", "hysteresis is 128; give 0 to 127"),
        ("mean;max", "'mean;max' is not a feature"),
    ],
)
def test_what_is_no_list_of_features_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        FeatureSet.of(text)


@pytest.mark.parametrize(
    ("kinds", "numbers"),
    [((), {}), (("mean",), {"bands": 2}), (("bands",), {"bands": 2, "hysteresis": 1})],
)
def test_numbers_belong_to_a_feature(kinds: tuple[str, ...], numbers: dict[str, int]) -> None:
    with pytest.raises(InputError):
        FeatureSet(kinds, **numbers)
