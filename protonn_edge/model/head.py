"""The float form of a kind of classifier, and the facts of models in any form.

In the ProtoNN paper's accounting, a value takes 4 bytes, plus 4 for its index in a sparse matrix,
and each matrix counts as dense or sparse, whichever is smaller (Gupta et al., 2017, section 5). The
size on a board is different; see `IntegerChain.model_bytes` and the memory budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import checks
from protonn_edge.model.features import Features
from protonn_edge.model.registry import SMALLER, TITLES
from protonn_edge.system.arrays import Array

_VALUE_BYTES = np.dtype(np.float32).itemsize
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
    """A matrix or vector of one kind of classifier, as its constructor checks and text names it."""

    symbol: str  # in formulas
    axes: tuple[str, ...]  # a letter for each of its sizes; the same letter is the same size
    optional: bool  # whether it may be empty

    def checked(self, value: Any, name: str, sizes: dict[str, int]) -> Any:
        """Return the checked value, and add its sizes to `sizes`, with which it must agree."""
        expected = [sizes.get(axis) for axis in self.axes]
        if len(expected) == 1:
            array: Array = checks.checked_vector(value, name, size=expected[0])
        else:
            array = checks.checked_matrix(value, name, rows=expected[0], columns=expected[1])
        sizes |= zip(self.axes, array.shape, strict=True)
        return array


def member(symbol: str, *axes: str, optional: bool = False, **options: Any) -> Any:
    """Return a dataclass field that is a `Member` of a head; `options` go to `field`."""
    return field(metadata={"member": Member(symbol, axes, optional)}, **options)


def addition(kinds: Callable[[], Mapping[str, type[Any]]]) -> Any:
    """Return a dataclass field of a head with an object of an extension, or None.

    `kinds` returns the classes of such objects, by their extensions' names.
    """
    return field(default=None, metadata={"addition": kinds})


SETTING = {"setting": True}
"""The metadata of a field with a number of a head's formula."""


def _members_of(head: Head) -> dict[str, Member]:
    """Return the members of a head, by the names of its fields."""
    assert is_dataclass(head)
    declared = ((each.name, each.metadata.get("member")) for each in fields(head))
    return {name: each for name, each in declared if each is not None}


class Head(ABC):
    """A kind of classifier: its matrices, and the scores of normalized points.

    Each kind has a frozen dataclass of its matrices in the module `head` of its folder; the
    constructor checks them. A model file has its fields; see `model.stored`.
    """

    kind: ClassVar[str]  # its name in files and in the registry
    # what to try in training if a model does not fit, whatever its features
    remedies: ClassVar[Remedies]
    _axes: dict[str, int]  # its arrays' sizes by letter; see `Member`

    def __post_init__(self) -> None:
        axes: dict[str, int] = {}
        for name, each in _members_of(self).items():
            checks.set_checked(self, name, each.checked(getattr(self, name), name, axes))
        checks.set_checked(self, "_axes", axes)

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs."""
        return self._axes["D"]

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return self._axes["L"]

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes other than inputs and classes."""
        return ()

    @property
    @abstractmethod
    def values_a_point(self) -> int:
        """Number of intermediate values per point, which limits the rows computed at once."""

    @abstractmethod
    def scores(self, X: Array) -> NDArray[np.float64]:
        """Return the scores (n, L) of normalized points X (n, D)."""


def matrices_of(head: Head) -> dict[str, Array]:
    """Return the trained matrices, by their symbols in formulas; those of layers are numbered."""
    found: dict[str, Array] = {}
    for name, each in _members_of(head).items():
        value = getattr(head, name)
        if isinstance(value, tuple):
            found |= {f"{each.symbol}{number}": W for number, W in enumerate(value, 1)}
        elif value.size or not each.optional:
            found[each.symbol] = value
    return found


def settings_of(head: Head) -> dict[str, float]:
    """Return the numbers in a formula that are not matrices, by name, unless they are defaults."""
    assert is_dataclass(head)
    found: dict[str, float] = {}
    for each in fields(head):
        value = getattr(head, each.name)
        if each.metadata.get("setting") and value != each.default:
            found[each.name] = value
        elif each.metadata.get("addition") and value is not None:
            found |= value.settings
    return found


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
    return features_title(model.features) or kind_title(model.head.kind)


def kind_title(kind: str) -> str:
    """Return the name in text of a kind of classifier."""
    return TITLES.get(kind, kind)


def features_title(features: Features | None) -> str:
    """Return the title of a stage that computes scores, which a classifier only passes on."""
    stages = () if features is None else features.stages
    return next(filter(None, (TITLES.get(stage.kind) for stage in stages)), "")


def remedies_of(model: WholeModel) -> Remedies:
    """Return what to try if the model does not fit; the advice of the features comes first."""
    stages = () if model.features is None else model.features.stages
    smaller = dict.fromkeys(each for stage in stages for each in SMALLER.get(stage.kind, ()))
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


def paper_bytes(matrices: Iterable[Array]) -> int:
    """Return the sum over matrices of ``4 min(1, 2 lambda) size``; lambda is the non-zero share."""
    stored = (min(matrix.size, 2 * int(np.count_nonzero(matrix))) for matrix in matrices)
    return _VALUE_BYTES * sum(stored)
