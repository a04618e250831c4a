"""Plots of a classifier for notebooks, one function each.

For a confusion matrix, use scikit-learn's ``ConfusionMatrixDisplay.from_estimator``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.model import checked_points
from protonn_edge.errors import InvalidValue
from protonn_edge.report.plane import principal_axes
from protonn_edge.system.lazy import require
from protonn_edge.training.base import DeviceClassifier

if TYPE_CHECKING:  # one of the extras
    from matplotlib.axes import Axes

_MOST_NAMED = 20


def plot_training(classifier: DeviceClassifier, ax: Axes | None = None) -> Axes:
    """Plot the accuracy of a fitted classifier over the epochs of its training.

    Parameters
    ----------
    classifier : DeviceClassifier
        After ``fit(..., evaluate_on=(X_test, y_test))``, the accuracy on these points is drawn,
        too.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    ax = _axes(ax)
    reports = classifier.history_
    numbers = np.arange(1, len(reports) + 1)
    ax.plot(numbers, [100 * each.accuracy for each in reports], label="training")
    tested = [(i, each.test_accuracy) for i, each in enumerate(reports, 1)]
    measured = [(i, 100 * share) for i, share in tested if share is not None]
    if measured:
        ax.plot(*zip(*measured, strict=True), label="test")
        ax.legend()
    ax.set(xlabel="epoch", ylabel="accuracy, %")
    return ax


def plot_space(
    classifier: DeviceClassifier, X: ArrayLike, y: ArrayLike, ax: Axes | None = None
) -> Axes:
    """Draw points in the projected space of a ProtoNN, with its prototypes as crosses.

    With more than two dimensions, the two principal axes of the points span the plane.

    Parameters
    ----------
    classifier : DeviceClassifier
        A fitted classifier.
    X : array of shape (n, D)
        Raw features.
    y : array of shape (n,)
        Their labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Raises
    ------
    InputError
        If the classifier has no prototypes, X has other features, or matplotlib is not installed.
    """
    model = classifier.to_model()
    head: Any = model.head
    if not hasattr(head, "landmarks"):
        raise InvalidValue(
            type(classifier).__name__, "no prototypes to draw", "give a ProtoNNClassifier"
        )
    ax = _axes(ax)
    places = model.normalized(checked_points(model, X)) @ head.projection.T.astype(np.float64)
    axes, centre, _ = principal_axes(places)
    landmarks, of_classes = head.landmarks
    prototypes = (landmarks - centre) @ axes.T
    labels, names = np.asarray(y), classifier.classes_
    for index, (name, colour) in enumerate(zip(names, _colours(len(names)), strict=True)):
        flat = (places[labels == name] - centre) @ axes.T
        own = prototypes[of_classes == index]
        _draw(ax, flat, s=6, alpha=0.5, linewidths=0, color=colour, label=str(name))
        _draw(ax, own, s=60, marker="X", edgecolors="black", linewidths=0.5, color=colour)
    ax.set(aspect="equal", xlabel="first axis", ylabel="second axis")
    if len(names) <= _MOST_NAMED:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=3)
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    require("matplotlib")
    from matplotlib import pyplot  # noqa: PLC0415 - one of the extras

    return pyplot.subplots()[1]


def _draw(ax: Axes, places: NDArray[np.float64], **style: Any) -> None:
    ax.scatter(places[:, 0], places[:, 1], **style)


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps  # noqa: PLC0415 - one of the extras

    palette = colormaps["tab10" if count <= 10 else "tab20"]
    return [palette(index % palette.N) for index in range(count)]
