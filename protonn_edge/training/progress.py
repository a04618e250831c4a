"""What training reports while it runs, and what it hands back: the same for every optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from protonn_edge.datasets.rows import Sparse
from protonn_edge.errors import InputError
from protonn_edge.model import Model
from protonn_edge.training.objective import Matrix, Parameters, rbf_values
from protonn_edge.training.points import Indices, Source

_EVALUATED_SCORES = 2**28  # products of a prototype and a label, of at least 1,000 points
_VANISHED = 1e-6

# Training that diverges begins again with its learning rate divided by this, at most so often.
BACK_OFF = 3.0
ATTEMPTS = 4

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class EpochReport:
    """What is known after an epoch, or after the epochs of one parameter's pass.

    Attributes
    ----------
    epoch, epochs : int
        The one that ended, counted from 1, and how many there are.
    objective : float
        Mean loss: over the epoch's (noisy) batches, or over the training points after a pass.
    accuracy : float
        Share of the training points (at most 10,000 of them) classified right, 0 to 1; a point with
        a set of labels is, if the highest score is that of one of them.
    parameter : {"", "Z", "B", "W"}
        The matrix whose pass ended; empty where all are trained at once.
    test_accuracy : float or None
        Share of the points of `evaluate_on` classified right; None if there are none.
    iteration, iterations : int
        The one that the pass is of, counted from 1, and how many there are; 0 without passes.
    """

    epoch: int
    epochs: int
    objective: float
    accuracy: float
    parameter: str = ""
    test_accuracy: float | None = None
    iteration: int = 0
    iterations: int = 0


@dataclass(frozen=True)
class Restart:
    """A training that was given up and begun again with smaller steps.

    Attributes
    ----------
    learning_rate : float
        At which it failed.
    epoch : int
        In which it failed, counted from 1.
    reason : str
        What happened, as half a sentence.
    lowered_to : float
        The learning rate of the next attempt.
    """

    learning_rate: float
    epoch: int
    reason: str
    lowered_to: float

    def __str__(self) -> str:
        return (
            f"training diverged at the learning rate {self.learning_rate:.3g} in epoch "
            f"{self.epoch:,} ({self.reason}), so it was restarted with {self.lowered_to:.3g}"
        )


@dataclass(frozen=True, eq=False)
class Trained:
    """What an optimizer found.

    Attributes
    ----------
    parameters : Parameters
    learning_rate : float
        The one that it took in the end.
    history : tuple of EpochReport
        Its reports, those of attempts that were given up left out.
    restarts : tuple of Restart
        The attempts that were given up.
    cutoff : float
        RBF values below it counted as 0.
    """

    parameters: Parameters
    learning_rate: float
    history: tuple[EpochReport, ...]
    restarts: tuple[Restart, ...] = ()
    cutoff: float = 0.0


@dataclass(frozen=True, eq=False)
class Learned:
    """What the training of a classifier made of prepared points.

    Attributes
    ----------
    model : Model
    history : tuple of EpochReport
        At least one.
    restarts : tuple of Restart
        The attempts that were given up.
    remarks : tuple of str
        What else the user should know of the training, such as that it had not converged.
    facts : mapping
        What else the model's record says, whatever JSON can hold.
    """

    model: Model
    history: tuple[EpochReport, ...]
    restarts: tuple[Restart, ...] = ()
    remarks: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


Callback = Callable[[EpochReport], object]


class DivergedError(Exception):
    """Parameters are no longer numbers, or most points are out of reach of all prototypes."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.epoch = 0  # of the training; whoever counts them fills it in


def with_back_off(
    train: Callable[[float], _Found], learning_rate: float, remedies: str
) -> tuple[_Found, float, tuple[Restart, ...]]:
    """Train; if that diverges, begin again with a third of the learning rate.

    Parameters
    ----------
    train : callable
        Trains at a learning rate, from the start; raises `DivergedError`.
    learning_rate : float
        The first one.
    remedies : str
        What to try if none will do, as the end of a sentence.

    Returns
    -------
    tuple
        What `train` returned, the learning rate of it, and the attempts that were given up.

    Raises
    ------
    InputError
        If it still diverges after three restarts.
    """
    restarts: list[Restart] = []
    for attempt in range(ATTEMPTS):
        rate = learning_rate / BACK_OFF**attempt
        try:
            return train(rate), rate, tuple(restarts)
        except DivergedError as error:
            restarts.append(Restart(rate, error.epoch, str(error), rate / BACK_OFF))
    raise InputError(
        f"training diverges at the learning rate {learning_rate:g} and at {rate:.2g} too "
        f"({restarts[-1].reason}); try {remedies}"
    )


def accuracies(
    parameters: Parameters, data: Source, cutoff: float = 0.0
) -> tuple[float, float | None]:
    """Return the shares of training and of test points classified right.

    RBF values below `cutoff` count as 0.

    Raises
    ------
    DivergedError
        If training has run into the void: steps that are too large throw points and prototypes so
        far apart that all RBFs vanish, and with them the gradient that could bring them back.
    """
    if not all(np.isfinite(matrix).all() for matrix in parameters):
        raise DivergedError("a parameter is no longer a finite number")
    X, y = data.evaluated
    step = -(-X.shape[0] // max(1_000, _EVALUATED_SCORES // parameters.labels.size))
    rbf = _rbf(parameters, X[::step])
    within_reach = float(np.mean(rbf.max(axis=1) > _VANISHED))  # false for NaN, too
    if within_reach < 0.5:
        raise DivergedError(
            f"{100 * (1.0 - within_reach):.0f} % of the points are out of every prototype's reach"
        )
    accuracy = _share_right(rbf, parameters, y[::step], cutoff)
    if data.test is None:
        return accuracy, None
    X, y = data.test
    return accuracy, _share_right(_rbf(parameters, X), parameters, y, cutoff)


def _rbf(parameters: Parameters, X: Matrix | Sparse) -> Matrix:
    return rbf_values(parameters, X @ parameters.projection.T)


def _share_right(rbf: Matrix, parameters: Parameters, y: Indices | Sparse, cutoff: float) -> float:
    rbf[rbf < cutoff] = 0.0
    found = (rbf @ parameters.labels.T).argmax(axis=1)
    if issparse(y):
        return float(y[np.arange(len(found)), found].mean())
    return float(np.mean(found == y))
