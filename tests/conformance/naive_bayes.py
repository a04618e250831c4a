"""Naive Bayes: two classes and many, few inputs and many, of few bits, the widest scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from conformance.instances import Instance
from model_factory import random_inputs
from naive_bayes_factory import chain_of, random_chain, tiny_chain

from protonn_edge.chain.integer_chain import IntegerChain, named_stages
from protonn_edge.kinds.naive_bayes.integers import IntegerNaiveBayes

golden_chain = tiny_chain


def instances() -> Iterator[Instance]:
    """Yield naive Bayes classifiers."""
    yield _instance("ten classes", random_chain(0, features=40, classes=10))
    yield _instance("inputs of 4 bits", random_chain(1, maximum=15, features=64))
    yield _instance("inputs up to 200", random_chain(2, maximum=200, features=40))
    yield _instance("inputs of 1 bit", random_chain(3, maximum=1, classes=3))
    yield _instance("256 inputs", random_chain(4, features=256, classes=2))
    yield _instance("many inputs", random_chain(5, features=300, classes=3))
    yield _instance("as many scores as inputs", random_chain(6, features=12, classes=12))
    yield _instance("by hand", golden_chain())
    widest = IntegerNaiveBayes(
        means=np.array([[0] * 127, [255] * 127], np.uint8),
        weights=np.full((2, 127), 65_535, np.uint16),
        bias=np.array([0, (1 << 31) - 1]),
        shift=0,
        input_maximum=255,
    )
    yield _instance("scores of all 32 bits", chain_of(widest))


def _instance(name: str, model: IntegerChain) -> Instance:
    stage = named_stages(model)["naive_bayes"]
    assert isinstance(stage, IntegerNaiveBayes)
    scaled = np.arange(stage.input_maximum + 1) << stage.shift
    distances = np.abs(scaled[:, None, None] - stage.means)
    ends = np.concatenate([distances.argmin(axis=0), distances.argmax(axis=0)])
    return Instance(name, model, stage, random_inputs(8, 20, model), ends)


def reference(stage: IntegerNaiveBayes, point: list[int]) -> list[int]:
    """Return the scores of inputs."""
    scores = []
    for bias, means, weights in zip(stage.bias, stage.means, stage.weights, strict=True):
        score = int(bias)
        for q, mean, weight in zip(point, means.tolist(), weights.tolist(), strict=True):
            distance = q * 2**stage.shift - mean
            score -= distance * distance * weight // 256
        scores.append(score)
    return scores
