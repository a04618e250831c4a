"""Conditions under which a training is refused, and their error sentences.

The rows for every training are in `protonn_edge.training.compatibility`, those about one kind of
feature are next to its parameters. Names of parameters in a sentence are in braces, which the
command line replaces by its own flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse

from protonn_edge.chain.model import Model
from protonn_edge.training.normalization import KEEPING_ZEROS
from protonn_edge.training.stored_points import is_large


@dataclass(frozen=True, kw_only=True)
class Case:
    """A training to check: its settings and properties of its points.

    Attributes
    ----------
    sparse, multilabel, in_groups : bool
        Whether the points stay sparse, have sets of labels, or come in groups.
    """

    settings: Any  # the settings of the kind of classifier that a row is for
    sparse: bool = False
    multilabel: bool = False
    in_blocks: int = 0  # bytes of points that are read in blocks; 0 if they are in memory
    in_groups: bool = False
    in_parts: bool = False  # whether `partial_fit` was called
    rejecting: bool = False  # whether the model will reject points afterwards
    given: frozenset[str] = frozenset()  # options given on the command line

    @classmethod
    def of(cls, settings: Any, X: Any, *, multilabel: bool, **facts: Any) -> Case:
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
    def asked(self) -> Any:
        """The `FeatureRequest` of the settings, if any."""
        return self.settings.asked

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of features in the settings, or in the model to start from."""
        stage = None if self.model is None else self.model.feature_stage
        of_stages = (each.kind for each in (self.asked, stage) if each is not None)
        return frozenset(filter(None, of_stages))

    @property
    def clips_on(self) -> bool:
        """Whether training continues from a model that clips outliers."""
        return self.model is not None and self.model.clipped

    @property
    def for_floats_alone(self) -> bool:
        """Whether the trained model cannot be converted to integers."""
        return self.multilabel or self.settings.normalizer_kind == "l2"


Condition = Callable[[Case], bool]


@dataclass(frozen=True)
class Refusal:
    """A row of the table."""

    when: Condition  # whether a case is refused
    # the reason, and what to try: ``{name}`` is the caller's name for a parameter,
    # ``{settings.name}`` its value
    sentence: str
    # parameters that not every kind of classifier has; the row applies only to kinds with all of
    # them
    reads: tuple[str, ...] = ()

    def refuses(self, case: Case) -> bool:
        """Return whether the case is refused."""
        return all(hasattr(case.settings, name) for name in self.reads) and self.when(case)

    def said_of(self, case: Case, names: Mapping[str, str] | None = None) -> str:
        """Return the sentence, with these names of parameters in place of Python's."""
        return self.sentence.format_map(_Names(names or {}, settings=case.settings, case=case))


class _Names(dict[str, Any]):
    """Names a parameter as in Python, unless it has another name."""

    def __missing__(self, name: str) -> str:
        return name


def but(wanted: Condition, sentence: str, *hindrances: Refusal) -> tuple[Refusal, ...]:
    """Return a row for each obstacle, whose clause replaces ``<but>``."""

    def row(hindrance: Refusal) -> Refusal:
        said = sentence.replace("<but>", hindrance.sentence)
        return Refusal(lambda case: wanted(case) and hindrance.when(case), said, hindrance.reads)

    return tuple(map(row, hindrances))


def unclipped(
    *hindrances: Refusal, why: str = "", to_start: Sequence[Refusal] = ()
) -> tuple[Refusal, ...]:
    """Return the rows of features whose ranges cannot be clipped, by these obstacles.

    - `why`: what the sentence adds to an obstacle.
    - `to_start`: obstacles of the setting alone, not of a model that clips already.
    """
    return (
        *but(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            f"{{clip}} is {{settings.clip:g}}, but <but>{why}; leave {{clip}} out",
            *hindrances,
            *to_start,
        ),
        *but(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; take another one",
            *hindrances,
        ),
    )


def one_class_in_memory(what: str) -> tuple[Refusal, ...]:
    """Return the rows of a kind without sets of labels and without points in blocks.

    `what` describes the kind, such as "a forest".
    """
    return (
        Refusal(
            lambda case: case.multilabel,
            f"points have sets of labels, but {what} gives each point one class; take another kind "
            "of classifier",
        ),
        Refusal(
            lambda case: case.in_blocks > 0,
            f"{what} needs all points in memory, but {{case.in_blocks:,}} B of points are read in "
            "blocks; train on fewer points, or take another kind of classifier",
        ),
    )


def all_at_once(name: str) -> Refusal:
    """Return a row for a parameter that `partial_fit` does not support."""
    return Refusal(
        lambda case: case.in_parts and bool(getattr(case.settings, name)),
        f"partial_fit was called with {{{name}}}, which needs all points at once; leave {{{name}}} "
        "out, or call fit",
    )


def models_all_at_once(kind: str, what: str) -> Refusal:
    """Return a row for a model with features that `partial_fit` cannot continue from."""
    return Refusal(
        lambda case: case.in_parts and kind in case.kinds,
        f"partial_fit goes on from a model of {what}, which needs all points at once; take "
        "another one, or call fit",
    )


SPARSE = Refusal(lambda case: case.sparse, "the points are sparse")
LABEL_SETS = Refusal(lambda case: case.multilabel, "points have sets of labels")
IN_BLOCKS = Refusal(lambda case: case.in_blocks > 0, "the points are read in blocks")
AUGMENTED = Refusal(lambda case: case.settings.augment, "{augment} moves images")
"""Clauses for `but`."""
