"""Naive Bayes for tests: random models in floats and in integers, and a small one made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from chains import model_of
from model_factory import parts_for, random_points

from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.model import Model
from protonn_edge.kinds.naive_bayes.head import NaiveBayesHead
from protonn_edge.kinds.naive_bayes.integers import IntegerNaiveBayes


def random_naive_bayes_model(
    seed: int = 0, *, features: int = 12, classes: int = 4, **parts: Any
) -> Model:
    """Return a float model with random means and variances, in which most scores are above 0."""
    rng = np.random.default_rng(seed)
    return model_of(
        NaiveBayesHead,
        means=rng.normal(size=(classes, features)).astype(np.float32),
        variances=rng.uniform(0.3, 2, (classes, features)).astype(np.float32),
        bias=rng.normal(size=classes) + 3 * features,
        **parts_for(random_points(seed, 300, features), classes),
        **parts,
    )


def random_chain(
    seed: int,
    *,
    features: int = 20,
    classes: int = 4,
    maximum: int = 255,
    largest: int = 65_535,
) -> IntegerChain:
    """Return integers with random means and weights, of which some are 0."""
    rng = np.random.default_rng(seed)
    shape = (classes, features)
    weights = rng.integers(0, largest + 1, shape) >> rng.integers(0, 12, shape)
    stage = IntegerNaiveBayes(
        means=rng.integers(0, 256, shape).astype(np.uint8),
        weights=weights.astype(np.uint16),
        bias=rng.integers(-(10**6), 10**6, classes),
        shift=8 - maximum.bit_length(),
        input_maximum=maximum,
    )
    return chain_of(stage)


def chain_of(stage: IntegerNaiveBayes) -> IntegerChain:
    """Return the chain of a stage."""
    maximum, features = stage.input_maximum, stage.n_inputs
    return IntegerChain(
        head=NaiveBayesHead,
        inputs=InputQuantizer(np.zeros(features), np.full(features, 1 / maximum), maximum),
        own_stages=(stage,),
        score_scale=1 / 1000,
        classes=tuple(f"class {label}" for label in range(stage.n_outputs)),
    )


def tiny_chain() -> IntegerChain:
    """Return integers of 4 inputs of 6 bits, and 3 classes."""
    return chain_of(
        IntegerNaiveBayes(
            means=np.array([[0, 40, 252, 17], [100, 255, 3, 128], [9, 9, 9, 9]], np.uint8),
            weights=np.array([[65_535, 1, 0, 300], [7, 0, 65_535, 2_000], [1, 2, 3, 4]], np.uint16),
            bias=np.array([600, -158, 40_000]),
            shift=2,
            input_maximum=63,
        )
    )
