"""Options that cannot be combined, in one table for Python, the command line and all classifiers.

Rows about a single kind of feature or classifier are next to its parameters. In sentences, names of
parameters are in braces; the command line replaces them by its flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.system.lazy import later

_feature_refusals = later("protonn_edge.training.requests", "refusals")


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A training to check: its settings and properties of its points."""

    settings: Any  # settings of the kind of classifier
    multilabel: bool = False  # whether they have sets of labels
    in_groups: bool = False  # whether the points come in groups
    given: frozenset[str] = frozenset()  # options given on the command line

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
        stage = None if self.model is None else self.model.features
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


Condition = Callable[[TrainingRequest], bool]


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

    def refuses(self, case: TrainingRequest) -> bool:
        """Return whether the case is refused."""
        return all(hasattr(case.settings, name) for name in self.reads) and self.when(case)

    def said_of(self, case: TrainingRequest, names: Mapping[str, str] | None = None) -> str:
        """Return the sentence, with these names of parameters in place of Python's."""
        return self.sentence.format_map(_Names(names or {}, settings=case.settings, case=case))


class _Names(dict[str, Any]):
    """Names a parameter as in Python, unless it has another name."""

    def __missing__(self, name: str) -> str:
        return name


def refuse_each(wanted: Condition, sentence: str, *hindrances: Refusal) -> tuple[Refusal, ...]:
    """Return a row for each obstacle; its clause replaces ``<but>``."""

    def row(hindrance: Refusal) -> Refusal:
        said = sentence.replace("<but>", hindrance.sentence)
        return Refusal(lambda case: wanted(case) and hindrance.when(case), said, hindrance.reads)

    return tuple(map(row, hindrances))


def unclipped(
    *hindrances: Refusal, why: str = "", to_start: Sequence[Refusal] = ()
) -> tuple[Refusal, ...]:
    """Return a row for each of these obstacles to clipping the ranges of features.

    A sentence adds `why` to an obstacle; `to_start` are obstacles of the setting alone, not of a
    model that clips already.
    """
    return (
        *refuse_each(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            f"{{clip}} is {{settings.clip:g}}, but <but>{why}; leave {{clip}} out",
            *hindrances,
            *to_start,
        ),
        *refuse_each(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; choose another model",
            *hindrances,
        ),
    )


def one_label_each(what: str) -> tuple[Refusal, ...]:
    """Return the row of a kind, such as "a forest", without label sets."""
    return (
        Refusal(
            lambda case: case.multilabel,
            f"points have sets of labels, but {what} gives each point one class; choose another "
            "kind of classifier",
        ),
    )


def unused(names: str, when: Condition, why: str) -> tuple[Refusal, ...]:
    """Return a row for each parameter that is given on the command line but has no effect."""
    return tuple(
        Refusal(
            lambda case, name=name: name in case.given and when(case),  # type: ignore[misc]
            f"{{{name}}} has no effect, because {why}; leave {{{name}}} out",
        )
        for name in names.split()
    )


LABEL_SETS = Refusal(lambda case: case.multilabel, "points have sets of labels")
AUGMENTED = Refusal(lambda case: case.settings.augment, "{augment} moves images")
"""Clauses for `but`."""


class Incompatible(InputError):
    """The training is refused by a row of the table."""


def check_compatible(
    case: TrainingRequest, own: Iterable[Refusal] = (), names: Mapping[str, str] | None = None
) -> None:
    """Refuse a training by the first row that applies; `own` are the rows of its kind."""
    refusal = refusal_of(case, own)
    if refusal is not None:
        raise Incompatible(refusal.said_of(case, names))


def refusal_of(case: TrainingRequest, own: Iterable[Refusal] = ()) -> Refusal | None:
    """Return the first row that refuses a case, or None."""
    rows = (*REFUSALS, *_feature_refusals(), *own)
    return next((each for each in rows if each.refuses(case)), None)


def _in_turn(fault: str) -> Refusal:
    return Refusal(
        lambda case: case.settings.optimizer == "alternating",
        f"the alternating optimizer {fault}",
        ("optimizer",),
    )


def _decided_by_budget(name: str, given: Condition) -> Refusal:
    return Refusal(
        lambda case: case.settings.budget is not None and given(case),
        f"{{budget}} is {{settings.budget:,}}, which determines the sizes, but {{{name}}} is given "
        f"too; leave out {{{name}}} or the budget",
        ("budget", name),
    )


OF_OPTIMIZERS = frozenset(
    (
        *("optimizer", "loss", "epochs", "iterations", "pass_epochs", "step_sizes", "batch_size"),
        *("learning_rate", "input_noise", "quantization_aware", "gamma_numerator", "trained"),
    )
)


REFUSALS: tuple[Refusal, ...] = (
    # The points.
    Refusal(
        lambda case: case.multilabel and case.settings.class_weight is not None,
        "{class_weight} is set, but a point with a set of labels has no single class; leave "
        "{class_weight} out, or give sample_weight",
    ),
    Refusal(
        lambda case: "group_shift" in case.given and not case.in_groups,
        "{group_shift} needs {groups}; give both",
    ),
    *refuse_each(
        lambda case: case.in_groups and case.settings.group_shift > 0,
        "{group_shift} is {settings.group_shift:g}, but <but>; set {group_shift} to 0, or leave "
        "the groups out",
        LABEL_SETS,
        _in_turn("takes points as they are"),
    ),
    *refuse_each(
        lambda case: case.settings.strangers > 0,
        "{strangers} is {settings.strangers:g}, but <but>; leave {strangers} out",
        LABEL_SETS,
        _in_turn("does not use points without a class"),
        Refusal(
            lambda case: case.settings.loss == "neighbour_likelihood",
            "the likelihood of neighbours is not defined for points without a class",
            ("loss",),
        ),
    ),
    # The model to start from.
    Refusal(
        lambda case: case.model is not None and case.model.multilabel and not case.multilabel,
        "the model to start from is for sets of labels, but the data has one class per point; "
        "start from a model of the same kind, or from none",
    ),
    Refusal(
        lambda case: case.model is not None and case.multilabel and not case.model.multilabel,
        "the model to start from is for one class per point, but the data has sets of labels; "
        "start from a model of the same kind, or from none",
    ),
    Refusal(
        lambda case: (
            case.model is not None
            and case.asked is not None
            and not case.asked.continues(case.model.features, case.settings)
        ),
        "features are given, but the model to start from has features of its own, or none; leave "
        "{features} out",
    ),
    # Images.
    *refuse_each(
        lambda case: case.settings.augment,
        "{augment} is {settings.augment}, but <but>",
        Refusal(
            lambda case: case.settings.image_shape is None,
            "{image_shape} is not given; give the height and width of the images",
        ),
        _in_turn("takes the points as they are; set {optimizer} to 'joint'"),
    ),
    # The ends of ranges.
    *unclipped(
        AUGMENTED,
        to_start=[
            Refusal(
                lambda case: case.settings.initial_model is not None,
                "the model to start from does not clip",
            )
        ],
    ),
    # Sizes, and where training starts.
    Refusal(
        lambda case: case.settings.budget is not None and case.model is not None,
        "{budget} is {settings.budget:,}, but the model to start from has its own sizes; leave "
        "out the budget or the model",
        ("budget",),
    ),
    Refusal(
        lambda case: case.settings.budget is not None and case.for_floats_alone,
        "{budget} is {settings.budget:,} B on a device, but a device supports neither sets of "
        "labels nor the {normalization} 'l2'; give {n_projections} and {n_prototypes} instead",
        ("budget",),
    ),
    Refusal(
        lambda case: case.settings.projection_bits < 8 and case.for_floats_alone,
        "{projection_bits} is {settings.projection_bits}, but a device supports neither sets of "
        "labels nor the {normalization} 'l2'; leave {projection_bits} out",
        ("projection_bits",),
    ),
    Refusal(
        lambda case: (
            case.settings.projection_bits != case.settings.weight_bits
            and (case.settings.projection_bits < 8 or "projection_bits" in case.given)
        ),
        "{projection_bits} is {settings.projection_bits}, but the model to start from keeps its "
        "{settings.weight_bits} bits per weight; leave {projection_bits} out",
        ("projection_bits",),
    ),
    # There always is a number of projections; only the command line knows whether it was given.
    _decided_by_budget("n_projections", lambda case: "n_projections" in case.given),
    _decided_by_budget("n_prototypes", lambda case: case.settings.n_prototypes is not None),
    *refuse_each(
        lambda case: (
            case.model is None
            and isinstance(case.settings.init_projection, str)
            and case.settings.init_projection == "nca"
        ),
        "{init_projection} 'nca' needs points with one class each, but <but>; "
        "choose 'sleec', 'gaussian' or 'pca'",
        replace(LABEL_SETS, reads=("init_projection",)),
    ),
)
