"""The paper's optimizer, which trains Z, B and W in turn by gradient steps and hard thresholding.

An iteration of algorithm 1 consists of a pass for each of the three matrices. A pass fixes the
other two matrices and runs some epochs of projected gradient descent, on all points at once if they
are few, otherwise on mini-batches. Armijo's rule finds the first step of a pass. Later steps shrink
as ``eta_0 / t`` (paper, section 4), or as ``eta_0 / sqrt(t)`` with Nesterov's acceleration, where
the result is the mean of the last half of the iterates (the authors' poster).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product
from typing import ClassVar

import numpy as np

from protonn_edge.extensions.research.kinds.paper.parameters import PaperProtoNNParameters
from protonn_edge.kinds.protonn.train.joint import accuracies
from protonn_edge.learn import progress
from protonn_edge.learn.objective import (
    MATRICES,
    Loss,
    Matrix,
    Parameters,
    objective,
    rbf_values,
    squared_distances,
    through_distances,
)
from protonn_edge.learn.points import Indices
from protonn_edge.learn.sparsity import hard_threshold
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.system.errors import InputError

FULL_BATCH_POINTS = 10_000
FULL_BATCH_SCORES = 2**24
MINI_BATCH_SIZE = 1_024  # as in the reference implementation
_ORDER = ("Z", "B", "W")
_SUFFICIENT_DECREASE = 0.3
_STEP_FACTOR = 2.0
_LONGEST_STEP = 1024.0
_TRIALS = 60

Rows = slice | Indices
Slope = Callable[[Matrix, Rows], tuple[float, Matrix]]
"""Maps one matrix and some points to the mean loss and its derivative by the matrix."""


def batch_size_for(n_points: int, n_classes: int) -> int:
    """Return the number of points if they and their scores are few, else the mini-batch size."""
    few = n_points <= FULL_BATCH_POINTS and n_points * n_classes <= FULL_BATCH_SCORES
    return n_points if few else MINI_BATCH_SIZE


class Alternating:
    """The optimizer, in place of the joint one."""

    name: ClassVar[str] = "alternating"

    def planned_epochs(self, settings: PaperProtoNNParameters) -> int:
        """Return the number of epochs by the last report."""
        return len(settings.trained) * int(settings.iterations * settings.pass_epochs)

    def minimize(
        self, start: Parameters, data: TrainingSet, settings: PaperProtoNNParameters
    ) -> progress.Trained:
        """Train from initial values; see `alternate`."""
        return alternate(start, data, settings)


def alternate(
    start: Parameters, data: TrainingSet, settings: PaperProtoNNParameters
) -> progress.Trained:
    """Train from `start` (paper, algorithm 1).

    A pass that would raise the objective is undone, and the next pass over that matrix starts with
    a smaller step, so the objective never rises between reports.

    - `start`: in float32, with gamma folded in.
    - `settings`: their callback is called after each pass over a matrix.

    Raises `InputError` if the initial objective is not finite, or no point is near a prototype.
    """
    loss = settings.loss_for(data)
    V, C, Z = map(hard_threshold, start, settings.sparsity)
    parameters = Parameters(V, C, Z, start.sharpness.copy())
    generator = np.random.default_rng(data.seed)
    turns = [name for name in _ORDER if name in settings.trained]
    longest = dict.fromkeys(turns, _LONGEST_STEP)
    total = len(turns) * settings.iterations * settings.pass_epochs
    value = _mean_loss(parameters, data, loss)
    history: list[progress.EpochReport] = []
    try:
        for iteration, name in product(range(1, settings.iterations + 1), turns):
            moved, first_step = _pass(parameters, name, data, settings, longest[name], generator)
            reached = _mean_loss(moved, data, loss)
            if reached <= value:
                parameters, value = moved, reached
                longest[name] = first_step * _STEP_FACTOR
            else:
                longest[name] = first_step / _STEP_FACTOR
            epoch = (len(history) + 1) * settings.pass_epochs
            shares = _shares(parameters, data)
            report = progress.EpochReport(
                epoch, total, value, *shares, name, iteration, settings.iterations
            )
            history.append(report)
            if settings.callback is not None:
                settings.callback(report)
    except progress.TrainingStopped:  # the latest parameters are the best
        if not history:
            raise
    return progress.Trained(parameters, longest[turns[-1]], tuple(history))


def _shares(parameters: Parameters, data: TrainingSet) -> tuple[float, float | None]:
    try:
        return accuracies(parameters, data, most=FULL_BATCH_POINTS)
    except progress.DivergedError as error:
        raise InputError(
            "most training points are out of reach of every prototype, so there is no gradient to "
            "follow; try a smaller gamma or gamma_numerator, or another normalization"
        ) from error


def _pass(
    parameters: Parameters,
    name: str,
    data: TrainingSet,
    settings: PaperProtoNNParameters,
    longest: float,
    generator: np.random.Generator,
) -> tuple[Parameters, float]:
    """Return the parameters with one matrix improved, and the first step of the pass."""
    place = MATRICES.index(name)
    share, epochs = settings.sparsity[place], settings.pass_epochs
    slope = _SLOPES[name](parameters, data, settings.loss_for(data))
    auto = settings.batch_size == "auto"
    size = batch_size_for(len(data), data.n_classes) if auto else int(settings.batch_size)
    batches, steps = _batches(len(data), size, epochs, generator), epochs * -(-len(data) // size)
    matrix, first = list(parameters)[place], next(batches)
    first_step = armijo_step(slope, matrix, first, share, longest)
    descend = _DESCENTS[settings.step_sizes]
    improved = descend(slope, matrix, chain([first], batches), steps, share, first_step)
    matrices = [improved if index == place else old for index, old in enumerate(parameters)]
    return Parameters(*matrices), first_step


def armijo_step(slope: Slope, start: Matrix, rows: Rows, share: float, longest: float) -> float:
    """Return a step that satisfies Armijo's condition.

    For a thresholded step from A to A' of length eta, Armijo's condition is
    ``f(A') <= f(A) - c ||A' - A||^2 / eta``; `longest` is halved until that holds.
    """
    value, gradient = slope(start, rows)
    step = longest
    for _ in range(_TRIALS):
        moved = hard_threshold(start - start.dtype.type(step) * gradient, share)
        demanded = _SUFFICIENT_DECREASE * float(np.square(moved - start).sum()) / step
        if slope(moved, rows)[0] <= value - demanded:
            break
        step /= _STEP_FACTOR
    return step


def _descend_by_inverse(
    slope: Slope,
    matrix: Matrix,
    batches: Iterable[Rows],
    _steps: int,  # as many as there are batches
    share: float,
    first_step: float,
) -> Matrix:
    """Return the matrix after steps of eta_0 / t."""
    for t, rows in enumerate(batches, start=1):
        step = matrix.dtype.type(first_step / t)
        matrix = hard_threshold(matrix - step * slope(matrix, rows)[1], share)
    return matrix


def _descend_accelerated(
    slope: Slope,
    matrix: Matrix,
    batches: Iterable[Rows],
    steps: int,
    share: float,
    first_step: float,
) -> Matrix:
    """Return the mean of the last half of the iterates, with accelerated steps eta_0 / sqrt(t)."""
    ahead, tail = matrix, np.zeros_like(matrix)
    for t, rows in enumerate(batches, start=1):
        step = matrix.dtype.type(first_step / math.sqrt(t))
        moved = hard_threshold(ahead - step * slope(ahead, rows)[1], share)
        ahead = moved + matrix.dtype.type((t - 1) / (t + 2)) * (moved - matrix)
        matrix = moved
        if 2 * t > steps:
            tail += matrix
    return hard_threshold(tail / matrix.dtype.type(steps - steps // 2), share)


_DESCENTS = {"inverse": _descend_by_inverse, "inverse_sqrt": _descend_accelerated}


def _slope_of_labels(parameters: Parameters, data: TrainingSet, loss: Loss) -> Slope:
    """Cache the RBF values, which do not depend on Z."""
    rbf = rbf_values(parameters, data.points.X @ parameters.projection.T)

    def slope(Z: Matrix, rows: Rows) -> tuple[float, Matrix]:
        seen = rbf[rows]
        weights = data.points.weights(rows)
        value, by_scores, _ = loss(seen @ Z.T, data.targets(rows), parameters.sharpness, weights)
        return value, by_scores.T @ seen

    return slope


def _slope_of_prototypes(parameters: Parameters, data: TrainingSet, loss: Loss) -> Slope:
    """Cache the projected points, which do not depend on B."""
    projected = data.points.X @ parameters.projection.T

    def slope(C: Matrix, rows: Rows) -> tuple[float, Matrix]:
        moved = Parameters(parameters.projection, C, parameters.labels, parameters.sharpness)
        value, by_prototypes, _ = _through_rbf(moved, projected[rows], data, rows, loss)
        return value, by_prototypes

    return slope


def _slope_of_projection(parameters: Parameters, data: TrainingSet, loss: Loss) -> Slope:
    def slope(V: Matrix, rows: Rows) -> tuple[float, Matrix]:
        X = data.points.X[rows]
        value, _, by_projected = _through_rbf(parameters, X @ V.T, data, rows, loss)
        return value, by_projected.T @ X

    return slope


_SLOPES = {"Z": _slope_of_labels, "B": _slope_of_prototypes, "W": _slope_of_projection}


def _through_rbf(
    parameters: Parameters, projected: Matrix, data: TrainingSet, rows: Rows, loss: Loss
) -> tuple[float, Matrix, Matrix]:
    """Return the loss of projected points, and its derivatives by C and by these points."""
    C, Z = parameters.prototypes, parameters.labels
    rbf = np.exp(-squared_distances(parameters, projected))
    weights = data.points.weights(rows)
    value, by_scores, _ = loss(rbf @ Z.T, data.targets(rows), parameters.sharpness, weights)
    by_squares = by_scores @ Z
    by_squares *= rbf
    np.negative(by_squares, out=by_squares)
    return value, *through_distances(C, projected, by_squares)


def _mean_loss(parameters: Parameters, data: TrainingSet, loss: Loss) -> float:
    """Return the objective on all points, computed in chunks of bounded size."""
    total, size = 0.0, max(1, FULL_BATCH_SCORES // len(parameters.labels))
    for start in range(0, len(data), size):
        rows = slice(start, min(start + size, len(data)))
        X, weights = data.points.X[rows], data.points.weights(rows)
        value = objective(parameters, X, data.targets(rows), loss, weights)
        total += value * (rows.stop - start)
    return total / len(data)


def _batches(count: int, size: int, epochs: int, generator: np.random.Generator) -> Iterator[Rows]:
    for _ in range(epochs):
        if size >= count:
            yield slice(None)
            continue
        order = generator.permutation(count)
        for start in range(0, count, size):
            yield order[start : start + size]
