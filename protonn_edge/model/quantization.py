"""From a float model of any kind to integers, and the loss of each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.model.integer_chain import IntegerChain, scores_in_two_steps
from protonn_edge.model.integer_stage import MOST_CLASSES
from protonn_edge.model.model import Model
from protonn_edge.model.registry import quantizer_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, InvalidValue


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; the result is deterministic.

    Parameters
    ----------
    model : Model
        A validated float model with D inputs and L classes.

    Returns
    -------
    IntegerChain
        Its scores times `score_scale` approximate the float model's scores.

    Raises
    ------
    InputError
        If there is no integer version of the model, or no integer scale is safe for every input.
    """
    reason = why_floats_alone(model)
    if reason is not None:
        raise InputError(reason)
    # A hostile file may hold numbers that overflow; non-finite values are refused later.
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return cast("IntegerChain", quantizer_of(model.head.kind).quantize(model))
        except InvalidValue as error:
            raise InputError(
                f"no device can run the model ({error.place}: {error.reason}); "
                + (error.remedy or "train a smaller model, or one with normalized features")
            ) from error


def why_floats_alone(model: Model) -> str | None:
    """Return, as a sentence, why a model cannot be converted to integers; None if it can."""
    if model.n_classes > MOST_CLASSES:
        return (
            f"the model has {model.n_classes:,} classes or labels, but a device distinguishes at "
            f"most {MOST_CLASSES:,}; train with fewer, or use the float model in Python"
        )
    if model.normalizer.kind == "l2":
        return (
            "the model scales points to unit norm (normalization 'l2'), which needs all features "
            "at once, but the device processes one at a time; train with 'standard' or "
            "'none'"
        )
    return None


def answers_of(model: Model, X: ArrayLike) -> tuple[Array, Array, IntegerChain | Model]:
    """Return what a model answers to raw points, in integers if it can.

    Parameters
    ----------
    model : Model
        A validated float model with D inputs.
    X : array_like (n, D)
        Points in the units of the training data.

    Returns
    -------
    answers : ndarray (n,)
        A class each; the rules of `form.policy` may give other answers.
    scores : ndarray (n, L)
        Integers, or floats if there is no integer version.
    form : IntegerChain or Model
        What answered.
    """
    if why_floats_alone(model) is not None:
        return *model.answers(X), model
    integers = quantize(model)
    return *integers.answers(integers.quantize(X)), integers


_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class StageLoss:
    """The results of a partly quantized model on labelled points."""

    stage: str  # the last part that was converted to integers, or "float" for none
    accuracy: float  # share of the points classified correctly, 0..1
    changed: int  # points whose class differs from the previous stage's
    disagreements: int  # points whose class differs from the float model's


def stage_losses(
    model: Model, X: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[StageLoss, ...]:
    """Return the loss at each stage of quantization on raw points X (n, D), n >= 1, of classes y.

    With a single class, no point changes its class.
    """
    if model.n_classes == 1:
        return ()
    integers, kind = quantize(model), quantizer_of(model.head.kind)
    by_step = getattr(kind, "scores_by_step", scores_in_two_steps)
    answers: dict[str, list[NDArray[np.int64]]] = {}
    for i in range(0, len(X), _ROWS_AT_ONCE):
        for stage, scores in by_step(model, integers, X[i : i + _ROWS_AT_ONCE]):
            answers.setdefault(stage, []).append(scores.argmax(axis=1))
    classes = {stage: np.concatenate(parts) for stage, parts in answers.items()}
    first = earlier = next(iter(classes.values()))
    losses = []
    for stage, now in classes.items():
        losses.append(
            StageLoss(
                stage=stage,
                accuracy=float(np.mean(now == y)),
                changed=int(np.count_nonzero(now != earlier)),
                disagreements=int(np.count_nonzero(now != first)),
            )
        )
        earlier = now
    return tuple(losses)
