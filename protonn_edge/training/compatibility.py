"""What cannot be combined: one table for Python, the command line and every kind of classifier.

A row says when a training is refused, and in which sentence. Names of parameters in a sentence are
in braces, so that the command line shows its own flags in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scipy.sparse import issparse

from protonn_edge.errors import InputError
from protonn_edge.model import Model
from protonn_edge.training.normalization import KEEPING_ZEROS
from protonn_edge.training.settings import TrainingSettings
from protonn_edge.training.stored_points import LARGE_BYTES, is_large


@dataclass(frozen=True, kw_only=True)
class Case:
    """A training that is to begin: its settings, and what its points are like.

    Attributes
    ----------
    settings : TrainingSettings
    sparse, multilabel, in_groups : bool
        Whether the points stay sparse, have sets of labels, come in groups.
    in_blocks : int
        Bytes of points that are read in blocks; 0 where they are in memory.
    in_parts : bool
        Whether `partial_fit` was called.
    rejecting : bool
        Whether the model is to reject points afterwards.
    given : frozenset of str
        Options that the command line names, whatever their values.
    """

    settings: Any  # of the kind of classifier that the row is for
    sparse: bool = False
    multilabel: bool = False
    in_blocks: int = 0
    in_groups: bool = False
    in_parts: bool = False
    rejecting: bool = False
    given: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: TrainingSettings, X: Any, *, multilabel: bool, **facts: Any) -> Case:
        """Return the case of points X (n, D), which are made dense unless zeros stay zeros."""
        sparse = bool(issparse(X)) and settings.normalizer_kind in KEEPING_ZEROS
        in_blocks = 4 * X.size if is_large(X) and not multilabel else 0
        return cls(
            settings=settings, sparse=sparse, multilabel=multilabel, in_blocks=in_blocks, **facts
        )

    @property
    def model(self) -> Model | None:
        """The model to start from."""
        given: Model | None = self.settings.initial_model
        return given

    @property
    def averages(self) -> bool:
        """Whether images are pooled, as the settings or the model to start from have it."""
        inherited = self.model is not None and self.model.pooling is not None
        return self.settings.reduced_shape is not None or inherited

    @property
    def windows(self) -> bool:
        """Whether features are made of windows, as the settings or that model have it."""
        inherited = self.model is not None and self.model.window_features is not None
        return self.settings.features is not None or inherited

    @property
    def clips_on(self) -> bool:
        """Whether training goes on from a model that clips outliers."""
        return self.model is not None and self.model.clipped

    @property
    def for_floats_alone(self) -> bool:
        """Whether no integer model can be made of what is trained."""
        return self.multilabel or self.settings.normalizer_kind == "l2"


Condition = Callable[[Case], bool]


@dataclass(frozen=True)
class Refusal:
    """A row of the table.

    Attributes
    ----------
    when : callable
        Whether a case is refused.
    sentence : str
        Why, and what to try: ``{name}`` is what the caller calls a parameter, ``{settings.name}``
        its value.
    reads : tuple of str
        Parameters that not every kind of classifier has; the row is for those that have them all.
    """

    when: Condition
    sentence: str
    reads: tuple[str, ...] = ()

    def refuses(self, case: Case) -> bool:
        """Return whether the case is refused."""
        return all(hasattr(case.settings, name) for name in self.reads) and self.when(case)

    def said_of(self, case: Case, names: Mapping[str, str] | None = None) -> str:
        """Return the sentence, with these names of parameters in place of Python's."""
        return self.sentence.format_map(_Names(names or {}, settings=case.settings, case=case))


class _Names(dict[str, Any]):
    """Calls a parameter what Python does, unless it has another name."""

    def __missing__(self, name: str) -> str:
        return name


class Incompatible(InputError):
    """A row of the table refuses the training."""


def check_compatible(
    case: Case, own: Iterable[Refusal] = (), names: Mapping[str, str] | None = None
) -> None:
    """Refuse a training that the table has a row for.

    Parameters
    ----------
    own : iterable of Refusal
        Rows of the kind of classifier alone.
    names : mapping of str to str, optional
        What the caller calls the parameters, such as ``--average-pooling`` for ``reduced_shape``.

    Raises
    ------
    Incompatible
        With the sentence of the first such row.
    """
    refusal = refusal_of(case, own)
    if refusal is not None:
        raise Incompatible(refusal.said_of(case, names))


def refusal_of(case: Case, own: Iterable[Refusal] = ()) -> Refusal | None:
    """Return the first row that refuses a case, or None."""
    return next((each for each in (*REFUSALS, *own) if each.refuses(case)), None)


def _but(wanted: Condition, sentence: str, *hindrances: Refusal) -> tuple[Refusal, ...]:
    """Return a row for each hindrance, whose half sentence takes the place of ``<but>``."""

    def row(hindrance: Refusal) -> Refusal:
        said = sentence.replace("<but>", hindrance.sentence)
        return Refusal(lambda case: wanted(case) and hindrance.when(case), said, hindrance.reads)

    return tuple(map(row, hindrances))


_SPARSE = Refusal(lambda case: case.sparse, "the points are sparse")
_LABEL_SETS = Refusal(lambda case: case.multilabel, "points have sets of labels")
_IN_BLOCKS = Refusal(lambda case: case.in_blocks > 0, "the points are read in blocks")
_NOT_CLASSES_IN_MEMORY = (_LABEL_SETS, _SPARSE, _IN_BLOCKS)
_AVERAGES = Refusal(lambda case: case.averages, "images are pooled")
_AUGMENTED = Refusal(lambda case: case.settings.augment, "{augment} moves images")
_NOT_FEATURES = (_SPARSE, _AVERAGES, _AUGMENTED, _IN_BLOCKS)


def _in_turn(words: str) -> Refusal:
    return Refusal(
        lambda case: case.settings.optimizer == "alternating",
        f"the alternating optimizer {words}",
        ("optimizer",),
    )


def _all_at_once(name: str) -> Refusal:
    return Refusal(
        lambda case: case.in_parts and bool(getattr(case.settings, name)),
        f"partial_fit was called with {{{name}}}, which needs all points at once; leave {{{name}}} "
        "out, or call fit",
    )


def _in_memory(name: str, value: object, instead: str, *reads: str) -> Refusal:
    return Refusal(
        lambda case: case.in_blocks > 0 and getattr(case.settings, name) == value,
        f"{{{name}}} is {value}, which needs all points in memory, but {{case.in_blocks:,}} B of "
        f"points are read in blocks (the limit is {LARGE_BYTES:,}); set {{{name}}} to {instead}, "
        "or train on fewer points",
        reads,
    )


def _not_pooled(name: str, what: str) -> Refusal:
    return Refusal(
        lambda case: case.settings.reduced_shape is None and bool(getattr(case.settings, name)),
        f"the image is to be {what}, but not to be pooled; say what it becomes with "
        "{reduced_shape}",
    )


def _decided_by_budget(name: str, given: Condition) -> Refusal:
    return Refusal(
        lambda case: case.settings.budget is not None and given(case),
        "{budget} is {settings.budget:,}, which decides on the sizes; leave "
        f"{{{name}}} out, or the budget",
        ("budget", name),
    )


def _starts_from_neighbourhoods(case: Case) -> bool:
    kind = case.settings.init_projection
    return case.model is None and isinstance(kind, str) and kind == "nca"


def _pools_otherwise(case: Case) -> bool:
    asked = case.settings
    if case.model is None or asked.reduced_shape is None:
        return False
    there = case.model.pooling
    if there is None:
        return True
    shapes = (asked.image_shape, asked.cropped_shape or asked.image_shape, asked.reduced_shape)
    same = shapes == (there.image_shape, there.cropped_shape, there.shape)
    return not same or asked.deskew != (there.deskewed is not None)


REFUSALS: tuple[Refusal, ...] = (
    # What the points are.
    Refusal(
        lambda case: case.in_parts and case.multilabel,
        "partial_fit learns one label a point; call fit with sets of labels",
    ),
    Refusal(
        lambda case: case.multilabel and case.settings.class_weight is not None,
        "{class_weight} is set, but a point with a set of labels is of no one class; leave it out, "
        "or give sample_weight",
    ),
    Refusal(
        lambda case: "group_shift" in case.given and not case.in_groups,
        "{group_shift} is given without {groups}, which says what they are",
    ),
    *_but(
        lambda case: case.in_groups and case.settings.group_shift > 0,
        "{group_shift} is {settings.group_shift:g}, but <but>; set it to 0, or leave the groups "
        "out",
        *_NOT_CLASSES_IN_MEMORY,
        _in_turn("takes points as they are"),
    ),
    *_but(
        lambda case: case.settings.strangers > 0,
        "{strangers} is {settings.strangers:g}, but <but>; leave {strangers} out",
        *_NOT_CLASSES_IN_MEMORY,
        _in_turn("has no use for them"),
    ),
    _in_memory("optimizer", "alternating", "joint", "optimizer"),
    _in_memory("augment", True, "False"),
    # Training in parts.
    *map(_all_at_once, ("augment", "clip", "deskew", "features", "strangers")),
    Refusal(
        lambda case: case.in_parts and case.clips_on,
        "partial_fit goes on from a model that clips outliers, whose range more points would "
        "widen; take another one, or call fit",
    ),
    Refusal(
        lambda case: case.in_parts and case.windows,
        "partial_fit goes on from a model of windows of samples, which needs all points at once; "
        "take another one, or call fit",
    ),
    # The model to start from.
    Refusal(
        lambda case: case.model is not None and case.model.multilabel and not case.multilabel,
        "the model to start from is for sets of labels, the data has one class a point; start from "
        "a model of the same kind, or from none",
    ),
    Refusal(
        lambda case: case.model is not None and case.multilabel and not case.model.multilabel,
        "the model to start from is for one class a point, the data has sets of labels; start from "
        "a model of the same kind, or from none",
    ),
    Refusal(
        _pools_otherwise,
        "the model to start from pools its images in another way than {reduced_shape}, "
        "{cropped_shape} and {deskew} say; leave them out",
    ),
    Refusal(
        lambda case: case.model is not None and case.settings.features is not None,
        "features are given, but also a model to start from, which has its own or none; leave "
        "{features} out",
    ),
    # Images.
    *_but(
        lambda case: case.settings.deskew,
        "{deskew} is True, which needs dense images that fit in memory, but <but>; leave it out, "
        "or train on fewer points",
        _SPARSE,
        _IN_BLOCKS,
    ),
    _not_pooled("cropped_shape", "cropped"),
    _not_pooled("deskew", "deskewed"),
    Refusal(
        lambda case: case.settings.reduced_shape is not None and case.settings.image_shape is None,
        "the image is to be pooled to {settings.reduced_shape}, but its own shape is not given; "
        "say its height and width with {image_shape}",
    ),
    Refusal(
        lambda case: case.averages and case.sparse,
        "the images are pooled to averages, but the points are sparse; give dense images",
    ),
    *_but(
        lambda case: case.settings.augment,
        "{augment} is True, but <but>",
        Refusal(lambda case: case.sparse, "the points are sparse; give dense images"),
        Refusal(
            lambda case: case.settings.image_shape is None,
            "{image_shape} is None; give (height, width)",
        ),
        _in_turn("takes the points as they are; set {optimizer} to joint"),
    ),
    # Features of windows.
    Refusal(
        lambda case: case.settings.window_shape is not None and not case.windows,
        "{window_shape} is given, but no features of windows are; say which with {features}, or "
        "leave it out",
    ),
    *_but(
        lambda case: case.windows,
        "features are to be made of windows, but <but>; leave {features} out",
        *_NOT_FEATURES,
    ),
    # The ends of ranges.
    *_but(
        lambda case: case.settings.clip > 0 and not case.clips_on,
        "{clip} is {settings.clip:g}, but <but>; leave {clip} out",
        *_NOT_FEATURES,
        Refusal(
            lambda case: case.settings.initial_model is not None,
            "the model to start from clips nothing",
        ),
    ),
    *_but(
        lambda case: case.clips_on,
        "the model to start from clips outliers, but <but>; take another one",
        *_NOT_FEATURES,
    ),
    Refusal(
        lambda case: case.settings.dead_zone > 0 and case.averages,
        "{dead_zone} is {settings.dead_zone:g}, but images are pooled, and their pixels have "
        "none; leave it, or {reduced_shape}, out",
    ),
    # Sizes, and where training starts.
    Refusal(
        lambda case: case.settings.budget is not None and case.model is not None,
        "{budget} is {settings.budget:,}, but the model to start from has its own sizes; leave one "
        "of the two out",
        ("budget",),
    ),
    Refusal(
        lambda case: case.settings.budget is not None and case.for_floats_alone,
        "{budget} is {settings.budget:,}, in bytes on a device, which takes neither sets of labels "
        "nor the {normalization} 'l2'; give {n_projections} and {n_prototypes}",
        ("budget",),
    ),
    # Everybody has a number of projections, so only the command line knows who asked for it.
    _decided_by_budget("n_projections", lambda case: "n_projections" in case.given),
    _decided_by_budget("n_prototypes", lambda case: case.settings.n_prototypes is not None),
    _decided_by_budget(
        "prototypes_per_class", lambda case: case.settings.prototypes_per_class is not None
    ),
    Refusal(
        lambda case: (
            case.model is None
            and None not in (case.settings.n_prototypes, case.settings.prototypes_per_class)
        ),
        "{n_prototypes} is {settings.n_prototypes} and {prototypes_per_class} is "
        "{settings.prototypes_per_class}; give only one of the two",
        ("n_prototypes", "prototypes_per_class"),
    ),
    *_but(
        _starts_from_neighbourhoods,
        "{init_projection} is 'nca', but <but>, and it needs dense points of one class each; take "
        "'sleec', 'gaussian' or 'pca'",
        replace(_LABEL_SETS, reads=("init_projection",)),
        replace(_SPARSE, reads=("init_projection",)),
    ),
    # Rejection.
    Refusal(
        lambda case: "by" in case.given and not case.rejecting,
        "{by} is given without {rate}, which says how often",
    ),
    Refusal(
        lambda case: case.rejecting and case.for_floats_alone,
        "{rate} is for models of one class a point that a device can run; leave it out, or train "
        "with one label a point and another {normalization} than l2",
    ),
)
