"""Files of values, of other makers and of texts that are no files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import assert_one_sentence, run
from policy.value.numbers import fitted
from refusals import refused_by

from protonn_edge.data.reading import load_dataset
from protonn_edge.model.policy import Units, with_rules
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.policy.value.rule import IntegerValue, Value
from protonn_edge.system.schema import text

# Files of models that predict numbers hold what a device can compute, or are refused at once.


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


# Folders of images with links that lead nowhere, and with 16 bits and transparent areas.


def image_module() -> Any:
    return pytest.importorskip("PIL.Image", reason="needs Pillow: install it")


def folder_of_two(path: Path) -> Path:
    for label in "ab":
        (path / label).mkdir()
        image_module().fromarray(np.full((4, 4), 90, np.uint8)).save(path / label / "0.png")
    return path


def test_a_link_to_itself_is_one_sentence(tmp_path: Path) -> None:
    (folder_of_two(tmp_path) / "a" / "1.png").symlink_to("1.png")
    assert_one_sentence(run("data", tmp_path), "1.png: Too many levels of symbolic links")


def test_transparent_areas_of_16_bits_are_white(tmp_path: Path) -> None:
    values = np.full((4, 4), 40_000, np.uint16)
    values[0] = 700
    path = folder_of_two(tmp_path) / "a" / "0.png"
    image_module().fromarray(values).save(path, transparency=700)
    image = load_dataset(str(tmp_path)).X_train[0].reshape(4, 4)
    assert (image[0] == 255).all()
    assert (image[1:] == 40_000 >> 8).all()


# A text of a JSON file with half of a surrogate pair was accepted, and could not be printed.


@pytest.mark.parametrize(
    ("quoted", "accepted"),
    [(r'"\ud83d"', False), (r'"a\ude00"', False), (r'"\ud83d\ude00"', True), ('"ä"', True)],
)
def test_half_a_surrogate_pair_is_no_text(quoted: str, accepted: bool) -> None:
    assert text(10)(json.loads(quoted)) is accepted
