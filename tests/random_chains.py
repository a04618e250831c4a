"""Random chains of every kind of stage: any classifier behind any feature stage, or none.

Like those of `random_shapes`, which has the sizes of ProtoNN models, they need not make sense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from convolution_factory import random_convolution, random_images_of
from extension_parts import additions
from kinds.kind import kind_of, kinds_with_models
from random_shapes import (
    FIRST_STAGES,
    Rng,
    Shape,
    random_input_scales,
    random_model_of,
    random_plan,
    random_points,
)

from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.images.image_rows import ImageStage
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import IntegerPolicy, Units, with_rules
from protonn_edge.model.registry import REGRESSORS
from protonn_edge.policy.rejection.rule import IntegerRejection
from protonn_edge.policy.value.rule import IntegerValue, Value
from protonn_edge.system.errors import InputError

_DRAWS = 2_000
_PARAMETERS = 20_000  # what an Uno's flash holds, with the code
_CLASSES = (2, 2, 3, 4, 5, 8, 9, 10, 12, 26)


def random_chain(rng: Rng, *, of_number: bool = False) -> tuple[IntegerChain, Plan]:
    """Return a chain with one of its plans that an Uno holds, as far as the plan can tell.

    It is of two or more classes, or `of_number`.
    """
    for _ in range(_DRAWS):
        try:
            chain = _chain(rng, of_number=of_number)
            if chain is None or chain.model_bytes > _PARAMETERS:
                continue
            plan = random_plan(rng, chain)
        except InputError:
            continue  # numbers that no model may have
        if Limits().hold(plan):
            return chain, plan
    raise AssertionError(f"none of {_DRAWS} random chains fits an Uno")


def points_of(rng: Rng, n: int, chain: IntegerChain) -> np.ndarray:
    """Return n points, (n, features) uint8, of the kind that the feature stage is for."""
    stage, seed = chain.features, int(rng.integers(1 << 31))
    Q = random_points(rng, n, chain)
    of_kind = {} if stage is None else additions("random points")
    for kind, made in of_kind.items():
        if stage.stages[-1].kind == kind:
            Q[n // 2 :] = made(seed, n - n // 2, stage)
    if isinstance(stage, Features) and isinstance(stage.stages[-1], ImageStage):
        Q[n // 2 :] = random_images_of(seed, n - n // 2, stage)
    return np.minimum(Q, chain.quantizer.maximum)


def _chain(rng: Rng, *, of_number: bool) -> IntegerChain | None:
    """Return a chain; None if its classifier cannot have the inputs that its features are."""
    kind = str(rng.choice([*STAGES]))
    before, n = STAGES[kind](rng)
    head = str(rng.choice([*REGRESSORS] if of_number else ["protonn", *_HEADS]))
    needed = {"forest": 255, "bonsai": 63}.get(head)
    given = before.stages[-1].maximum if kind == "convolution" else _MAXIMA.get(kind)
    if needed and given and needed != given:
        return None
    maximum = given or needed or int(rng.choice([1, 15, 31, 63, 127, 255]))
    classes = 1 if of_number else int(rng.choice(_CLASSES))
    if head == "protonn":
        shape = Shape(int(rng.integers(1, 22)), int(rng.integers(1, 60)), classes, n, before)
        model: IntegerChain = random_model_of(rng, shape, maximum)
    else:
        made = _HEADS[head](rng, n, classes, maximum)
        inputs = random_input_scales(rng, Shape(0, 0, classes, n, before), maximum)
        model = replace(made, inputs=inputs, features=before)
    return with_value(rng, model) if of_number else _rejecting(rng, model)


def random_network(rng: Rng, most: int = 3) -> tuple[Features, int]:
    """Return one to so many layers; `InputError` if a window is larger than its image."""
    shape = (int(rng.integers(3, 13)), int(rng.integers(3, 13)), int(rng.integers(1, 4)))
    layers: list[IntegerConvolution | IntegerPooling] = []
    maximum = int(rng.choice([15, 255]))
    for _ in range(int(rng.integers(1, most + 1))):
        if rng.random() < 0.3:
            window = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
            layer: IntegerConvolution | IntegerPooling = IntegerPooling(
                shape, window, str(rng.choice(["maximum", "average"])), maximum
            )
        else:
            largest = int(rng.choice([1, 2, 7]))
            layer = random_convolution(
                int(rng.integers(1 << 31)),
                shape,
                int(rng.choice([1, 2, 3, 4, 8, 9])),
                int(rng.choice([1, 3, 5])),
                stride=int(rng.choice([1, 2])),
                padded=bool(rng.random() < 0.5),
                depthwise=bool(rng.random() < 0.3),
                largest=largest,
                weight_bits=int(rng.choice([2 if largest == 1 else 4, 8])),
                input_maximum=maximum,
                maximum=maximum,
                shift=12,
            )
        layers.append(layer)
        shape = layer.output_shape
    stage = layered(tuple(layers))
    return stage, stage.n_outputs


STAGES: dict[str, Callable[[Rng], tuple[Features | None, int]]] = {
    **FIRST_STAGES,
    **additions("random stages"),
    "convolution": random_network,
}
_MAXIMA: dict[str, int] = additions("largest values of random stages")


_HEADS: dict[str, Callable[[Rng, int, int, int], IntegerChain]] = {
    kind: kind_of(kind).drawn for kind in kinds_with_models()
}


def with_value(rng: Rng, chain: IntegerChain) -> IntegerChain:
    """Return a chain of one score with a random value that it stands for."""
    *before, last = chain.own_stages
    if getattr(last, "alone", True) is False:  # a row for two classes
        last = replace(last, alone=True)
    low, high = last.output.ends
    scale = 10 ** float(rng.uniform(-3, 4)) / max(-low, high, 1)
    value = Value(scale, float(rng.normal() * 10 ** rng.uniform(-2, 4)), int(rng.integers(0, 6)))
    rule = IntegerValue.of(value, Units(1.0, 255, 1, 0, (low, high)))
    stages, names = (*before, last), chain.classes[:1]
    return replace(chain, own_stages=stages, classes=names, policy=IntegerPolicy((rule,)))


def _rejecting(rng: Rng, chain: IntegerChain) -> IntegerChain:
    """Return the chain, in one case of four with thresholds of its scores."""
    low, high = chain.own_stages[-1].output.ends
    if chain.policy.find(IntegerRejection) is not None or high < 2 or rng.random() < 0.75:
        return chain
    score, margin = int(rng.integers(1, high)), int(rng.integers(1, min(high - low, 32_000)))
    kept = rng.integers(1, 4)
    limits = IntegerRejection(score=score * (kept & 1), margin=margin * (kept >> 1))
    return with_rules(chain, limits)
