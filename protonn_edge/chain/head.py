"""The float form of a kind of classifier, and the facts of models in any form.

In the ProtoNN paper's accounting, a value takes 4 bytes, plus 4 for its index in a sparse matrix,
and each matrix counts as dense or sparse, whichever is smaller (Gupta et al., 2017, section 5). The
size on a board is different; see `IntegerChain.model_bytes` and the memory budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.chain import checks
from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.checks import Arrays
from protonn_edge.chain.features import Features
from protonn_edge.extensions import brought

_VALUE_BYTES = 4
_SHOWN_CLASSES = 5

FEWER_FEATURES = "fewer features (for images: --features pool:HxW)"
"""A remedy that makes any model smaller."""


class Remedies(NamedTuple):
    """Training options to try, each worded as part of a sentence."""

    flash: tuple[str, ...]  # for a smaller model
    sram: str  # for fewer variables
    cycles: str  # for fewer cycles for a feature
    accuracy: str  # for less loss of accuracy in integers

    @classmethod
    def only(cls, remedy: str) -> Remedies:
        """Return one remedy for everything."""
        return cls((remedy,), remedy, remedy, remedy)


class Size(NamedTuple):
    """A size: its name, its letter in formulas, and the number."""

    name: str
    symbol: str
    number: int


class Member(NamedTuple):
    """An array, or a single number, that a model file stores for one kind of classifier."""

    name: str  # in the file
    dtype: str  # such as "f4", without byte order; for a number just "f", "i", ...
    # a letter for each of its sizes; arrays with the same letter share that size; none for a number
    axes: tuple[str, ...]
    optional: bool  # whether files leave it out if it is the default or empty

    def read(self, arrays: Arrays) -> Any:
        """Return the array or number from a file's arrays."""
        if not self.axes:
            return checks.single_value(arrays[self.name], self.name, self.dtype)
        checks.check_type(arrays[self.name], self.name, self.dtype)
        return arrays[self.name]

    def checked(self, value: Any, sizes: dict[str, int]) -> Any:
        """Return the checked value, and add its sizes to `sizes`, with which it must agree."""
        expected = [sizes.get(axis) for axis in self.axes]
        if not expected:
            return float(value) if self.dtype == "f" else value
        if len(expected) == 1:
            array: NDArray[Any] = checks.checked_vector(value, self.name, size=expected[0])
        else:
            array = checks.checked_matrix(value, self.name, rows=expected[0], columns=expected[1])
        sizes |= zip(self.axes, array.shape, strict=True)
        return array


def member(name: str, dtype: str, *axes: str, optional: bool = False, **options: Any) -> Any:
    """Return a dataclass field that is a `Member` of a head; `options` go to `field`."""
    return field(metadata={"member": Member(name, dtype, axes, optional)}, **options)


def addition(point: str) -> Any:
    """Return a dataclass field of a head with what an extension brings at a point, or None.

    It is a dataclass of members, whose names in a file begin with the extension's name and a ".".
    """
    return field(default=None, metadata={"addition": point})


def members_of(kind: type) -> dict[str, Member]:
    """Return the members of a dataclass, by the names of its fields."""
    assert is_dataclass(kind)
    declared = ((each.name, each.metadata.get("member")) for each in fields(kind))
    return {name: each for name, each in declared if each is not None}


def additions_to(kind: type) -> list[tuple[str, type]]:
    """Return the names of a dataclass's fields for additions, and the types of what there is."""
    assert is_dataclass(kind)
    points = {each.name: each.metadata.get("addition") for each in fields(kind)}
    return [
        (name, added)
        for name, point in points.items()
        if point is not None
        for added in brought(point).values()
    ]


class Head(ABC):
    """A kind of classifier: its matrices, and the scores of normalized points.

    Each kind has a frozen dataclass of its matrices in the module `head` of its folder; the
    constructor checks them. A `member`'s declaration decides how it is read, checked and written.
    """

    kind: ClassVar[str]  # its name in files and in the registry
    title: ClassVar[str]  # its name in text
    # what to try in training if a model does not fit, whatever its features
    remedies: ClassVar[Remedies]
    # arrays in files of only this kind, besides its members: all of them, and the optional ones
    ARRAYS: ClassVar[tuple[str, ...]] = ()
    OPTIONAL_ARRAYS: ClassVar[tuple[str, ...]] = ()
    # the parts that become integers in the second step of `scores_in_two_steps`
    last_step: ClassVar[str] = "W"
    # minimum number of classes: a one-class model separates its points from others
    LEAST_CLASSES: ClassVar[int] = 2
    axes: dict[str, int]  # its arrays' sizes by letter; see `Member`
    # what thresholds can judge points by: score and margin, and perhaps the distance
    statistics: ClassVar[tuple[str, ...]] = ("score", "margin")
    # whether scores are low for all inputs far from the training points
    knows_its_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        axes: dict[str, int] = {}
        for name, each in self.members().items():
            checks.set_checked(self, name, each.checked(getattr(self, name), axes))
        checks.set_checked(self, "axes", axes)

    @classmethod
    def members(cls) -> dict[str, Member]:
        """Return its members in a file, by the names of its fields."""
        return members_of(cls)

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs."""
        return self.axes["D"]

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return self.axes["L"]

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes other than inputs and classes."""
        return ()

    @property
    def matrices(self) -> dict[str, NDArray[Any]]:
        """The trained matrices, by their names in a file."""
        arrays = ((each, getattr(self, name)) for name, each in self.members().items() if each.axes)
        return {each.name: array for each, array in arrays if array.size or not each.optional}

    @property
    def paper_bytes(self) -> int:
        """Size of the matrices by the ProtoNN paper's accounting; see the module's docstring."""
        return paper_bytes(self.matrices.values())

    @property
    def settings(self) -> dict[str, float]:
        """The numbers in its formula that are not matrices, by name."""
        return {}

    @property
    def activity_sizes(self) -> Sizes:
        """Numbers of shares in the activity of its integer stages; see `Activity`."""
        return {}

    def to_arrays(self) -> Arrays:
        """Return its arrays for a model file."""
        arrays = self.matrices
        for name, each in self.members().items():
            number = None if each.axes else getattr(self, name)
            default = getattr(type(self), name, None) if each.optional else None
            if number != default:
                arrays[each.name] = np.array(number)
        for name, kind in additions_to(type(self)):
            if isinstance(added := getattr(self, name), kind):
                for own, each in members_of(kind).items():
                    arrays[each.name] = np.array(getattr(added, own))
        return arrays

    def check_eeprom(self, board: Board) -> None:  # noqa: B027  (most need no EEPROM)
        """Raise `CheckFailed` if a board's EEPROM cannot hold what the model keeps there."""

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Build the head from a file's arrays; `InputError` if they are wrong or disagree."""
        readers = (
            (name, each)
            for name, each in cls.members().items()
            if each.name in arrays or not each.optional
        )
        given = {name: each.read(arrays) for name, each in readers}
        for name, kind in additions_to(cls):
            members = members_of(kind)
            if any(each.name in arrays for each in members.values()):
                given[name] = kind(**{own: each.read(arrays) for own, each in members.items()})
        return cls(**given)

    @property
    @abstractmethod
    def values_a_point(self) -> int:
        """Number of intermediate values per point, which limits the rows computed at once."""

    @abstractmethod
    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores (n, L) of normalized points X (n, D)."""

    def scores_and_nearest(
        self, X: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores (n, L) of normalized points, and their nearness (n,) to known ones.

        The nearness is 0..1; kinds without such a measure have 1.
        """
        return self.scores(X), np.ones(len(X))


class WholeModel(Protocol):
    """A whole model, in floats or in integers.

    The classifier's inputs are a point's own features, or the ones that stages compute from them.
    """

    @property
    def head(self) -> Any:
        """A head, or the class of one."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""

    @property
    def features(self) -> Features | None:
        """What computes features first, on the device."""

    @property
    def n_features(self) -> int:
        """Number of features of a point, as sent to the device: at least D."""

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs of the classifier."""

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes other than inputs and classes."""


def title_of(model: WholeModel) -> str:
    """Return the title of the features if they are the scores, else of the head."""
    title: str = (model.features and model.features.title) or model.head.title
    return title


def remedies_of(model: WholeModel) -> Remedies:
    """Return what to try if the model does not fit; the advice of the features comes first."""
    stages = () if model.features is None else model.features.stages
    smaller = dict.fromkeys(each for stage in stages for each in stage.smaller)
    own: Remedies = model.head.remedies
    if not smaller:
        return own
    sram, cycles = (f"{', '.join(smaller)}, or {each}" for each in (own.sram, own.cycles))
    return own._replace(flash=(*smaller, *own.flash), sram=sram, cycles=cycles)


def size_facts(model: WholeModel) -> dict[str, str]:
    """Return a model's sizes and classes."""
    names = ", ".join(model.classes[:_SHOWN_CLASSES])
    more = ", ..." if len(model.classes) > _SHOWN_CLASSES else ""
    return {
        "kind": title_of(model),
        "features": f"{model.n_features:,}",
        "classes": f"{len(model.classes):,} ({names}{more})",
        **{size.name: f"{size.number:,}" for size in model.sizes},
    }


def channels_of(model: WholeModel) -> int | None:
    """Return the number of interleaved channels in a point, None without features."""
    return None if model.features is None else len(model.features.points.scale.zero)


def paper_bytes(matrices: Iterable[NDArray[Any]]) -> int:
    """Return the sum over matrices of ``4 min(1, 2 lambda) size``; lambda is the non-zero share."""
    stored = (min(matrix.size, 2 * int(np.count_nonzero(matrix))) for matrix in matrices)
    return _VALUE_BYTES * sum(stored)
