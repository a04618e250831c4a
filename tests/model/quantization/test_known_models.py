"""Known float models become known integers, whatever the kind and the bits.

A change of these means that models on boards become other ones when they are built again; say so to
users. Float fields are left out, whose last bits may depend on the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from chains import numbers_of, replace
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from linear_factory import random_linear_model
from model_factory import random_model

from protonn_edge.codegen.verification.tryout import example_inputs
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer


def constant_features(model: Any) -> Any:
    """Return a model whose first feature never changed in training."""
    inputs = model.inputs
    lower = inputs.lower.copy()
    lower[0] = inputs.upper[0]
    return replace(model, inputs=replace(inputs, lower=lower, background=lower))


def with_larger(model: Any, name: str, factor: float) -> Any:
    """Return a model one of whose arrays is multiplied."""
    return replace(model, **{name: getattr(model.head, name) * np.float32(factor)})


def of_one_sign(model: Any) -> Any:
    return replace(model, labels=np.abs(model.head.labels) + 1)


def of_whole_numbers(model: Any) -> Any:
    """Return a linear model of integer weights and features, which are 0..200."""
    n = len(model.normalizer.offset)
    inputs = InputStatistics(
        lower=np.zeros(n),
        upper=np.full(n, 200.0),
        mean=np.full(n, 90.0),
        deviation=np.full(n, 40.0),
        background=np.zeros(n),
        whole=True,
    )
    return replace(
        model,
        weights=np.rint(model.head.weights * 40),
        bias=np.rint(model.head.bias * 40),
        normalizer=Normalizer("none", np.zeros(n), np.ones(n)),
        inputs=inputs,
    )


MODELS: dict[str, tuple[Callable[[], Model], str]] = {
    "protonn": (random_model, "d1d4356f15b4930f"),
    "protonn, 24 bits": (
        lambda: random_model(features=400, projections=3, gamma_numerator=12.0),
        "dff212b8e8dcf030",
    ),
    "protonn, 4 bits": (
        lambda: replace(random_model(features=40), projection_bits=4),
        "e6315c3da1851068",
    ),
    "protonn, coarse labels": (
        lambda: random_model(prototypes=80, gamma_numerator=0.4),
        "5b510a0d997bb084",
    ),
    "protonn, 32-bit scores": (
        lambda: of_one_sign(random_model(prototypes=250, gamma_numerator=0.2)),
        "8233f20d58a6162b",
    ),
    **additions("known models"),
    "dense": (random_dense_model, "150bfe6916a7da82"),
    "dense, deep": (lambda: random_dense_model(1, hidden=(9, 5), classes=2), "16f02f10e308caf5"),
    "dense, wide": (
        lambda: random_dense_model(2, features=500, hidden=(4, 90)),
        "195b361c65c68b7c",
    ),
    "linear": (random_linear_model, "45ed1280fa0dbbd7"),
    "linear, 2 classes": (
        lambda: random_linear_model(1, features=60, classes=2),
        "2798335d0326b0da",
    ),
    "linear, wide": (lambda: random_linear_model(2, features=800), "010b58fd8538a7bf"),
    "linear, 24 bits": (
        lambda: with_larger(random_linear_model(3), "bias", 4e3),
        "9a35125c3d12bce1",
    ),
    "linear, 32 bits": (
        lambda: with_larger(random_linear_model(3), "bias", 2e5),
        "236522cf0a7673f5",
    ),
    "linear, integers": (
        lambda: of_whole_numbers(random_linear_model(4, classes=2)),
        "708b398e70f6b93d",
    ),
    "linear, constant": (lambda: constant_features(random_linear_model(4)), "c3551e9cb0e3cfac"),
    "forest": (random_forest_model, "a23134a8c2ea691f"),
    "forest, large": (lambda: random_forest_model(1, trees=40, classes=9), "db9d933f9108440c"),
    "forest, coarse": (
        lambda: with_larger(random_forest_model(2, trees=200, classes=2), "leaves", 9),
        "75c9eb7bb2cefb5c",
    ),
}


def integers_of(value: Any) -> Iterator[bytes]:
    if isinstance(value, tuple):
        for each in value:
            yield from integers_of(each)
    elif isinstance(value, int) or (isinstance(value, np.ndarray) and value.dtype.kind in "iu"):
        yield np.asarray(value, dtype="<i8").tobytes()


def digest_of(chain: IntegerChain) -> str:
    digest = hashlib.sha256(chain.inputs.maximum.to_bytes(1))
    for value in (chain.raw_exponents, *numbers_of(chain).values()):
        for numbers in integers_of(value):
            digest.update(numbers)
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("name", MODELS)
def test_known_model_gives_known_integers(name: str) -> None:
    make, known = MODELS[name]
    chain = quantize(make())
    assert digest_of(chain) == known


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("protonn", "8b6a748a6535b168"),
        ("protonn, 24 bits", "9dd32d302da666dc"),
        ("linear", "b09cd9a6a96da2ec"),
        *additions("known examples").items(),
    ],
)
def test_examples_for_a_device_are_the_same_everywhere(name: str, known: str) -> None:
    chain = quantize(MODELS[name][0]())
    start = np.full(chain.n_inputs, chain.inputs.maximum // 3, np.uint8)
    examples = example_inputs(chain, start, 5)
    assert hashlib.sha256(examples.astype("<i8").tobytes()).hexdigest()[:16] == known
