"""The picture of a model's space, with its points and prototypes.

For ProtoNN and Bonsai it is the projected space, for others the space of scores. With more than two
dimensions, the plane is spanned by the two principal axes of the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import answer_names
from protonn_edge.device import Result
from protonn_edge.report.content import Mark, Scatter
from protonn_edge.report.evidence import Evidence

Floats = NDArray[np.float64]

_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 480, 260, 440  # of the figure, in px
_MARGIN = 16
_FAR = 0.35  # of the points' extent: more distant prototypes are left out
_TOLERANCE = 0.005  # of the extent: maximum error of a position computed in the page
_MOST_NAMED = 6  # classes with names that fit the figure
_LETTER, _LINE = 9, 18  # of a name, in px
_MOST_INPUTS = 1024  # of an affine map in the page
_FEWEST_POINTS = 3  # of a plane

_POINT_BYTES = 64_000  # of all test points in a page
_MOST_POINTS, _LEAST_POINTS = 320, 20


def chosen_points(one: Evidence) -> list[Result]:
    """Return the results for the page's points: mistakes first, the others evenly.

    All are returned if they fit the page. At most half of them are mistakes, chosen in rounds, one
    of each cell of the confusion matrix per round.
    """
    answered = one.answered
    if one.points is None or not answered:
        return []
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _POINT_BYTES // one.reference.n_features))
    if len(answered) <= most:
        return answered
    mistakes = _in_rounds([result for result in answered if result.predicted != result.label])
    taken = {result.index for result in mistakes[: most // 2]}
    others = [result for result in answered if result.index not in taken]
    evenly = np.linspace(0, len(others) - 1, most - len(taken)).astype(int).tolist()
    taken |= {others[i].index for i in evenly}
    return [result for result in answered if result.index in taken]


def _in_rounds(results: list[Result]) -> list[Result]:
    """Return results ordered by their rank in their cell: the first of each cell come first."""
    seen: dict[tuple[int, int | None], int] = {}
    rounds = []
    for result in results:
        cell = (result.label, result.predicted)
        rounds.append(seen.get(cell, 0))
        seen[cell] = rounds[-1] + 1
    return [results[i] for i in np.argsort(rounds, kind="stable").tolist()]


@dataclass(frozen=True)
class Plane:
    """The figure, and the map from another input to its position."""

    scatter: Scatter
    space: str  # the name of the space, for a sentence
    dimensions: int  # of that space
    explained: float  # share of the points' variance in the plane, 0..1
    far: int  # prototypes that are left out because they are far from all points
    source: str | None  # the inputs of the map, bytes or scores; None if there is no affine map
    weights: Floats | None  # (2, k): the position in px is `weights @ source + offset`
    offset: Floats  # (2,)


@lru_cache(maxsize=4)
def plane_of(one: Evidence) -> Plane | None:
    """Return the picture of a run's space with its chosen points, or None if there is none."""
    chosen = chosen_points(one)
    space = _space_of(one, chosen)
    if space is None:
        return None
    axes, centre, explained = principal_axes(space.places)
    flat = (space.places - centre) @ axes.T
    prototypes = (space.prototypes - centre) @ axes.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    slack = _FAR * (high - low)
    near = ((prototypes >= low - slack) & (prototypes <= high + slack)).all(axis=1)
    frame = Frame.around(np.vstack([flat, prototypes[near]]))
    if frame is None:
        return None
    classes = one.reference.classes
    labels = [min(result.label, len(classes)) for result in chosen]  # points of no class come last
    classes = answer_names(max(len(classes), *(label + 1 for label in labels)), classes)
    wrong = [result.predicted != result.label for result in chosen]
    weights, offset = space.affine_map
    return Plane(
        scatter=Scatter(
            _WIDTH,
            frame.height,
            marks(frame.at(flat), labels, wrong),
            marks(frame.at(prototypes[near]), space.labels[near].tolist()),
            classes,
            _class_names(frame.at(flat), np.array(labels), classes),
        ),
        space=space.name,
        dimensions=space.places.shape[1],
        explained=explained,
        far=int((~near).sum()),
        source=None if weights is None else space.source,
        weights=None if weights is None else frame.unit * (axes @ weights),
        offset=frame.at((offset - centre) @ axes.T),
    )


def marks(at: Floats, labels: list[int], wrong: list[bool] | None = None) -> tuple[Mark, ...]:
    """Return the marks of points (n, 2) in px."""
    places = np.round(at, 1).tolist()
    flags = wrong or [False] * len(labels)
    return tuple(Mark(*place, *rest) for place, *rest in zip(places, labels, flags, strict=True))


def _class_names(
    at: Floats, labels: NDArray[np.int64], classes: tuple[str, ...]
) -> tuple[tuple[float, float, str], ...]:
    """Return the names of few classes, each at the centre of its points, or below another name."""
    if len(classes) > _MOST_NAMED:
        return ()
    there = [(label, name) for label, name in enumerate(classes) if (labels == label).any()]
    middles = (np.median(at[labels == label], axis=0).round(1).tolist() for label, _ in there)
    placed: list[tuple[float, float, str]] = []
    for (x, y), (_, name) in sorted(zip(middles, there, strict=True), key=lambda each: each[0][1]):
        for x0, y0, other in placed:
            if abs(x - x0) < _LETTER * (len(name) + len(other)) / 2 and y < y0 + _LINE:
                y = y0 + _LINE  # noqa: PLW2901  (moved down)
        placed.append((x, y, name))
    return tuple(placed)


@dataclass(frozen=True, eq=False)
class Frame:
    """The position of a plane in the figure, where y increases downwards."""

    height: int
    unit: Floats  # (2, 1), px
    corner: Floats

    @classmethod
    def around(cls, shown: Floats) -> Frame | None:
        """Return the frame of points (n, 2) in the plane; None if all are in one place."""
        low, extent = shown.min(axis=0), np.ptp(shown, axis=0)
        if not extent.max() > 0:
            return None
        limits = np.array([_WIDTH, _MOST_HEIGHT]) - 2 * _MARGIN
        scale = float((limits / np.maximum(extent, 1e-12)).min())
        height = round(max(_LEAST_HEIGHT, scale * float(extent[1]) + 2 * _MARGIN))
        unit = np.array([[scale], [-scale]])
        return cls(height, unit, np.array([_WIDTH, height]) / 2 - unit[:, 0] * (low + extent / 2))

    def at(self, flat: Floats) -> Floats:
        """Return positions in px of positions in the plane (..., 2)."""
        return flat * self.unit[:, 0] + self.corner


@dataclass(frozen=True, eq=False)
class _Space:
    """The space of a model; see `Plane` for its name and source."""

    name: str
    source: str
    inputs: Floats  # (n, k), of the positions
    places: Floats  # (n, d)
    basis: Floats  # (k + 1, d), the positions of an input of zeros, and of 1 in each input in turn
    prototypes: Floats  # (m, d)
    labels: NDArray[np.int64]  # (m,)

    @property
    def affine_map(self) -> tuple[Floats | None, Floats]:
        """Weights (d, k) and an offset (d,); no weights if the map is not affine."""
        origin = self.basis[0]
        weights = (self.basis[1:] - origin).T
        off = np.abs(self.inputs @ weights.T + origin - self.places).max(initial=0)
        fits = len(weights.T) == self.inputs.shape[1] and off <= _TOLERANCE * np.ptp(self.places)
        return (weights if fits else None), origin


def _space_of(one: Evidence, chosen: list[Result]) -> _Space | None:
    if one.points is None or len(chosen) < _FEWEST_POINTS:
        return None
    model, rows = one.model, [one.points.place[result.index] for result in chosen]
    head = model.head
    W = getattr(head, "projection", None)
    if W is None:
        return _space_of_scores(chosen)
    W = W.astype(np.float64)
    fed, features = one.points.fed[rows], one.reference.quantizer
    k = model.n_features
    units = np.eye(k + 1, k, -1) if k <= _MOST_INPUTS else np.zeros((1, k))
    prototypes, labels = np.zeros((0, len(W))), np.zeros(0, np.int64)
    if landmarks := getattr(head, "landmarks", None):
        prototypes, labels = landmarks
    return _Space(
        name="projected space",
        source="bytes",
        inputs=fed.astype(np.float64),
        places=model.normalized(features.zero + features.step * fed) @ W.T,
        basis=model.normalized(features.zero + features.step * units) @ W.T,
        prototypes=prototypes,
        labels=labels,
    )


def _space_of_scores(chosen: list[Result]) -> _Space | None:
    scores = [result.scores for result in chosen if result.scores is not None]
    if len(scores) < len(chosen):
        return None
    table = np.array(scores, np.float64)
    n = table.shape[1]
    nobody, none = np.zeros((0, n)), np.zeros(0, np.int64)
    return _Space("space of scores", "scores", table, table, np.eye(n + 1, n, -1), nobody, none)


def principal_axes(places: Floats) -> tuple[Floats, Floats, float]:
    """Return two axes (2, d) of the points (n, d), their origin, and the explained variance."""
    dimensions = places.shape[1]
    centre = places.mean(axis=0)
    if dimensions <= 2:
        return np.eye(2, dimensions), centre, 1.0
    _, extents, vectors = np.linalg.svd(places - centre, full_matrices=False)
    axes, variances = vectors[:2], np.square(extents)
    # The sign of an axis is arbitrary: its largest component is made positive.
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[[0, 1], largest])[:, None]
    total = float(variances.sum())
    return axes, centre, float(variances[:2].sum()) / total if total > 0 else 1.0
