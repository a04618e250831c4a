"""Images moved at random: where the pixels go, and that their values stay in range."""

from __future__ import annotations

import numpy as np
import pytest
from trainings import DIGITS, fit

from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.learn.augmentation import (
    ImageAugmentation,
    random_resamplings,
    resampling,
    smooth_fields,
)
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.points import Points
from protonn_edge.learn.training_set import TrainingSet


def moved(image: np.ndarray, turn: np.ndarray, shift: tuple[float, float]) -> np.ndarray:
    pixels, shares = resampling(image.shape, turn, np.array(shift)[:, None])
    return (image.ravel()[pixels] * shares).sum(axis=0).reshape(image.shape)


@pytest.mark.parametrize("shape", [(4, 5), (1, 6), (6, 1)])
def test_no_movement_changes_nothing(shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).random(shape)
    np.testing.assert_allclose(moved(image, np.eye(2), (0, 0)), image, rtol=1e-6)


def test_a_shift_by_a_pixel_continues_the_border() -> None:
    image = np.arange(12.0).reshape(3, 4)
    expected = np.concatenate([image[1:], image[-1:]])
    np.testing.assert_allclose(moved(image, np.eye(2), (1, 0)), expected)


def test_a_shift_by_half_a_pixel_is_the_mean_of_two() -> None:
    image = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(
        moved(image, np.eye(2), (0, 0.5))[:, :3], (image[:, :3] + image[:, 1:]) / 2
    )


def test_a_quarter_turn_turns_around_the_centre() -> None:
    image = np.random.default_rng(0).random((5, 5))
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(moved(image, quarter, (0, 0)), np.rot90(image, -1), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_every_pixel_is_a_mean_of_pixels_of_the_image(seed: int) -> None:
    pixels, shares = random_resamplings((7, 9), 3, np.random.default_rng(seed))
    assert pixels.min() >= 0
    assert pixels.max() < 63
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)


def test_distortions_have_a_deviation_of_1_and_neighbours_move_alike() -> None:
    fields = smooth_fields((14, 9), (4_000,), np.random.default_rng(0)).reshape(-1, 14, 9)
    np.testing.assert_allclose(fields.std(axis=0), 1, atol=0.06)
    neighbours = (fields[:, 1:] * fields[:, :-1]).mean(axis=0)
    assert neighbours.min() > 0.85


def augmented(images: np.ndarray, count: int, share: float = 1.0) -> np.ndarray:
    """Return the first images as a step moves them."""
    augment = ImageAugmentation(images, (8, 8), share)
    return augment(images[:count].copy(), np.arange(count), np.random.default_rng(0))


def test_groups_of_a_step_move_differently() -> None:
    copies = np.repeat(DIGITS.X_train[:1], 64, axis=0)
    images = np.concatenate([copies, 16 - copies[:1]]).astype(np.float32)
    batch = augmented(images, 64)
    assert batch.dtype == np.float32
    assert len(np.unique(batch, axis=0)) == 4
    assert batch.min() >= images.min() - 1e-5
    assert batch.max() <= images.max() + 1e-5


def test_of_a_share_of_groups_the_others_stay_as_they_are() -> None:
    images = DIGITS.X_train[:160].astype(np.float32)
    batch = augmented(images, 160, share=0.5)
    stayed = (batch == images).all(axis=1).reshape(10, 16)
    assert np.array_equal(stayed.all(axis=1), stayed.any(axis=1))
    assert 2 <= stayed.all(axis=1).sum() <= 8
    assert np.array_equal(augmented(images, 20, share=1e-9), images[:20])


def test_pixels_that_never_change_stay_as_they_are() -> None:
    images = DIGITS.X_train.astype(np.float32)
    constant = images.min(axis=0) == images.max(axis=0)
    assert constant.any()
    batch = augmented(images, 50)
    assert np.array_equal(batch[:, constant], images[:50, constant])
    model = fit(epochs=2, image_shape=(8, 8), augment=True).model_
    assert not model.head.projection[:, constant].any()


def test_it_is_the_whole_image_that_moves_before_it_is_pooled_and_normalized() -> None:
    settings = ProtoNNParameters(image_shape=(8, 8), features="pool:4x4", augment=True)
    given = Points(DIGITS.X_train[:40], DIGITS.y_train[:40])
    data = TrainingSet.of(settings, given, ClassLabels(), 10, seed=0)
    step = data.moved(np.arange(40), np.random.default_rng(0))
    assert data.space.stage is not None
    images = augmented(data.raw, 40)
    expected = data.space.normalizer.apply(data.space.stage.apply(images))
    np.testing.assert_allclose(step, expected, rtol=1e-4, atol=1e-5)
