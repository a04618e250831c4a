"""Counted kernels as features: drawn by a seed, chosen by the targets, exact on any window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from avr_tools import skip_without
from generated_programs import assert_equal_to_reference
from hypothesis import given
from hypothesis import strategies as st
from model_factory import drawn_kernels_of, random_window_model
from refusals import refused_by
from stored_features import from_arrays, to_arrays

from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import device_plans
from protonn_edge.features.kernels.integers import IntegerKernels, KernelBank
from protonn_edge.features.kernels.making import chosen_kernels, drawn_kernels
from protonn_edge.features.kernels.train import KernelRequest
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.linear.value.train import LinearRegressor
from protonn_edge.learn.features import FeatureData
from protonn_edge.learn.requests import read_features
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.integer_stage import Range
from protonn_edge.model.quantization import quantize
from protonn_edge.model.stored import digest
from protonn_edge.system.errors import InputError

SHAPE = (32, 2)


def ramps(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 64) of teeth that rise slowly or fall slowly, at any phase."""
    rng = np.random.default_rng(0)
    y, t = np.arange(n) % 2, np.arange(32)[:, None]
    tooth = (0.11 * t + rng.uniform(0, 1, (n, 1, 2))) % 1
    signal = np.where(y[:, None, None], tooth, 1 - tooth) + rng.normal(0, 0.1, (n, 32, 2))
    return signal.reshape(n, -1), y


def stage_of(seed: int = 0, text: str = "kernels:96", **more: Any) -> IntegerKernels:
    """Return the stage of a request for windows of ramps."""
    X, y = ramps()
    settings = LinearClassifier(features=text, window_shape=SHAPE).frozen()
    data = FeatureData(**{"points": X.astype(np.float32), "y": y, "seed": seed, **more})
    features = settings.features_for(data)
    assert features is not None
    (stage,) = features.stages
    assert isinstance(stage, IntegerKernels)
    return stage


def test_the_seed_and_the_targets_decide_which_kernels_are_chosen() -> None:
    stage = stage_of()
    assert digest(stage) == digest(stage_of())
    for other in (stage_of(seed=1), stage_of(y=ramps()[1][::-1] * 0 + np.arange(120) // 60)):
        assert digest(stage) != digest(other)
    assert stage.n_outputs == 96
    assert (np.diff(stage.bank.biases, axis=1) >= 0).all()


def test_without_targets_and_for_one_window_the_number_is_the_same() -> None:
    assert stage_of(y=None).n_outputs == stage_of(points=np.zeros((1, 64)), y=None).n_outputs == 96


def test_kernels_tell_rising_from_falling_ramps_which_the_usual_features_cannot() -> None:
    X, y = ramps(240)
    usual = "mean,deviation,min,max,change,crossings,bands:5"
    shares = {}
    for text in (usual, "kernels:48"):
        model = LinearClassifier(features=text, window_shape=SHAPE, random_state=0)
        chain = quantize(model.fit(X[:80], y[:80]).to_model())
        shares[text] = (chain.predict(chain.quantize(X[80:])) == y[80:]).mean()
    assert shares["kernels:48"] > max(0.9, shares[usual] + 0.1)
    forest = ForestClassifier(features="kernels:48", window_shape=SHAPE, random_state=0)
    assert forest.fit(X, y).score(X, y) > 0.9


def test_the_kernels_that_explain_the_targets_are_chosen() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 99, (200, 60, 3)).astype(np.uint8)
    useful = [5, 17, 40]
    for targets in ((counts[:, useful, 1] > 50).astype(float), counts[:, useful, 2] / 9.0):
        assert chosen_kernels(counts, targets, 3).tolist() == useful


def test_numbers_choose_kernels_too() -> None:
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.2, 0.8, 200)
    X = np.sin(rate[:, None] * np.arange(32) + rng.uniform(0, 6, (200, 1)))
    model = LinearRegressor(features="kernels:48", random_state=0)
    assert model.fit(X[:120], rate[:120]).score(X[120:], rate[120:]) > 0.9


@pytest.mark.parametrize("window", [8, 9, 255, 256])
def test_drawn_kernels_fit_any_window(window: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (3, window)).astype(np.uint8)
    bank = drawn_kernels(x, (window, 1), 300, rng)
    assert bank.positions(window).min() >= 1
    assert bank.positions(window).max() <= 255
    assert set(bank.weights.tolist()) == {0, 2}


@given(st.integers(0, 2**32 - 1))
def test_the_formula_is_its_faster_form_and_keeps_its_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    window, channels, n = int(rng.integers(8, 257)), int(rng.integers(1, 4)), 4
    stage = IntegerKernels((window, channels), *_any_numbers(rng, window, channels, n))
    x = rng.choice([0, 1, 128, 254, 255], (5, stage.n_inputs)).astype(np.uint8)
    x[1:3] = rng.integers(0, 256, (2, stage.n_inputs))
    values = stage.run(x)
    assert (arrays_of(stage.formula, x) == values).all()
    assert (values <= stage.output.high).all()
    reached = Range.of(stage.formula(Range.of_bytes(stage.n_inputs, 255).interval))
    assert (reached.low >= 0).all()
    assert (reached.high <= stage.output.high).all()
    assert (values >= reached.low).all()
    assert (values <= reached.high).all()


def _any_numbers(
    rng: np.random.Generator, window: int, channels: int, n: int
) -> tuple[KernelBank, np.ndarray, np.ndarray]:
    bank = KernelBank(
        rng.integers(channels, size=n).astype(np.uint8),
        rng.integers(window, size=(n, 3)).astype(np.uint8),
        rng.integers(3, size=n).astype(np.uint8),
        rng.choice([-32768, -511, -510, -1, 0, 100, 509, 510, 32767], (n, 3)).astype(np.int16),
    )
    least, factors = (rng.integers(0, 256, (n, 3)).astype(np.uint8) for _ in range(2))
    return bank, least, factors


def test_generated_c_computes_any_numbers_on_windows_at_their_ends() -> None:
    skip_without("cc")
    rng = np.random.default_rng(7)
    features = drawn_kernels_of(40, 3, 4)
    for _ in range(5):
        bank, least, _ = _any_numbers(rng, 40, 3, 4)
        bank.biases[:] = rng.integers(-300, 300, bank.biases.shape)
        stage = IntegerKernels((40, 3), bank, least // np.uint8(50), least % np.uint8(9) + 1)
        chain = quantize(random_window_model(replace(features, stages=(stage,))))
        x = rng.choice([0, 255, 127], (40, 120)).astype(np.uint8)
        with host_program(chain, device_plans(chain)[0], sanitize=True) as host:
            assert_equal_to_reference(host, chain, x)


def test_a_file_gives_the_kernels_back_and_numbers_beyond_the_window_are_refused() -> None:
    features = drawn_kernels_of(16, 2, 3)
    assert from_arrays(to_arrays(features)) == features
    (stage,) = features.stages
    assert isinstance(stage, IntegerKernels)
    bank = stage.bank
    for wrong in (
        replace(bank, taps=bank.taps + np.uint8(16)),
        replace(bank, channels=bank.channels + np.uint8(2)),
        replace(bank, weights=bank.weights + np.uint8(3)),
        replace(bank, biases=bank.biases[:2]),
        replace(bank, channels=bank.channels[0, ...]),
        replace(bank, channels=bank.channels[None]),
        bank.part(np.zeros(0, np.int64)),
    ):
        with pytest.raises(InputError, match=r"three|taps|channel|weight|kernels"):
            replace(stage, bank=wrong)


@pytest.mark.parametrize(
    "text", ["kernels", "kernels:0", "kernels:100", "kernels:256", "kernels:x"]
)
def test_other_numbers_are_refused(text: str) -> None:
    with refused_by("features.kernels.train", naming="kernels:96"):
        read_features(text)


def test_windows_that_are_too_short_are_refused_and_not_compared() -> None:
    assert [*KernelRequest.of_windows((7, 3))] == []
    assert [*KernelRequest.of_windows((8, 3))] == ["kernels:96"]
    settings = LinearClassifier(features="kernels:9", window_shape=(4, 2)).frozen()
    with refused_by("learn.parameters", naming="8"):
        settings.features_for(FeatureData(np.zeros((9, 8), np.float32)))
