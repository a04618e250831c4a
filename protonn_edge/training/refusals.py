"""What cannot be combined in a training: each row is refused by one sentence.

Parts of a training declare what they cannot do, and are asked here: a kind whether it takes sets of
labels, features whether their values can be clipped. Rows about a single kind of feature or
classifier are next to its parameters. In sentences, names of parameters are in braces; the command
line replaces them by its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.system.lazy import later

_feature_refusals = later("protonn_edge.training.requests", "refusals")


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A training to check: its settings and properties of its points."""

    settings: Any  # settings of the kind of classifier
    multilabel: bool = False  # whether the points have sets of labels
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
    def for_floats_alone(self) -> bool:
        """Whether the trained model cannot be converted to integers."""
        return self.multilabel or self.settings.normalizer_kind == "l2"

    def differs(self, name: str) -> bool:
        """Return whether the kind of classifier has a parameter, and it is not the default."""
        if not hasattr(self.settings, name):
            return False
        value, default = getattr(self.settings, name), getattr(type(self.settings), name, None)
        return value is not default and not (type(value) is type(default) and value == default)


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

    def refused(self, case: TrainingRequest) -> str | None:
        """Return the sentence by which the case is refused, if it is."""
        reads = all(hasattr(case.settings, name) for name in self.reads)
        return self.sentence if reads and self.when(case) else None


@dataclass(frozen=True)
class Apart:
    """A row for parameters that have a meaning only with some values of another one.

    They are refused if they are given on the command line or, unless they have no effect, if they
    are not the default.
    """

    names: str
    other: str  # the other parameter
    suits: Callable[[Any], bool]  # whether they have a meaning with its value
    because: str  # the clause that explains why not
    has_no_effect: bool = True

    def refused(self, case: TrainingRequest) -> str | None:
        """Return the sentence by which the case is refused, if it is."""
        settings = case.settings
        if not hasattr(settings, self.other) or self.suits(getattr(settings, self.other)):
            return None
        for name in self.names.split():
            if name in case.given or (not self.has_no_effect and case.differs(name)):
                problem = "has no effect, because" if self.has_no_effect else "is given, but"
                return f"{{{name}}} {problem} {self.because}; leave {{{name}}} out"
        return None


@dataclass(frozen=True)
class Needs:
    """A row for everything that a property of the points or of the model rules out."""

    when: Condition  # whether the case has the property
    why: str  # the clause that names it
    ruled_out: Callable[[TrainingRequest], Iterator[tuple[str, bool]]]

    def refused(self, case: TrainingRequest) -> str | None:
        """Return the sentence by which the case is refused, if it is."""
        if not self.when(case):
            return None
        names = (name for name, is_wanted in self.ruled_out(case) if is_wanted)
        name = next(names, None)
        return (
            None
            if name is None
            else f"{name} is not possible, because {self.why}; train without it"
        )


Row = Refusal | Apart | Needs


class _Names(dict[str, Any]):
    """Names a parameter as in Python, unless it has another name."""

    def __missing__(self, name: str) -> str:
        return name


class Incompatible(InputError):
    """The training is refused by a row of the table."""


def check_compatible(
    case: TrainingRequest, own: Iterable[Row] = (), names: Mapping[str, str] | None = None
) -> None:
    """Refuse a training by the first row that applies; `own` are the rows of its kind.

    The sentence has these names of parameters in place of Python's.
    """
    sentence = refusal_of(case, own)
    if sentence is not None:
        named = _Names(names or {}, settings=case.settings, case=case)
        raise Incompatible(sentence.format_map(named))


def refusal_of(case: TrainingRequest, own: Iterable[Row] = ()) -> str | None:
    """Return the sentence of the first row that refuses a case, or None."""
    rows = (*REFUSALS, *_feature_refusals(), *own)
    return next(filter(None, (each.refused(case) for each in rows)), None)


def _for_one_label_each(case: TrainingRequest) -> Iterator[tuple[str, bool]]:
    """Yield what learns from the class of each point, and whether it is wanted."""
    settings = case.settings
    yield "this kind of classifier", not settings.takes_label_sets
    yield "{class_weight}", settings.class_weight is not None
    yield "{group_shift}", case.in_groups and settings.group_shift > 0
    yield "{strangers}", settings.strangers > 0
    yield "{copies}", settings.copies > 0
    yield "{features}", case.asked is not None and case.asked.learns_from_classes
    start = getattr(settings, "init_projection", "")
    yield "{init_projection} 'nca'", isinstance(start, str) and start == "nca"


def _for_devices(case: TrainingRequest) -> Iterator[tuple[str, bool]]:
    """Yield what has a meaning only on a device, and whether it is wanted."""
    yield "{budget}", case.differs("budget")
    yield "{projection_bits}", case.differs("projection_bits")
    yield "{teachable}", case.differs("teachable")
    yield "{solver} 'network'", getattr(case.settings, "solver", "") == "network"


def _of_other_targets(case: TrainingRequest) -> bool:
    return case.model is not None and case.model.multilabel != case.multilabel


REFUSALS: tuple[Row, ...] = (
    Needs(lambda case: case.multilabel, "points have sets of labels", _for_one_label_each),
    Needs(
        lambda case: case.for_floats_alone,
        "a device supports neither sets of labels nor the {normalization} 'l2'",
        _for_devices,
    ),
    Refusal(
        _of_other_targets,
        "only one of the data and the model to start from has sets of labels; start from a model "
        "of the same kind, or from none",
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
    Apart(
        "clip budget",
        "initial_model",
        lambda model: model is None,
        "the model to start from has its own sizes and ranges",
        has_no_effect=False,
    ),
    Refusal(
        lambda case: "group_shift" in case.given and not case.in_groups,
        "{group_shift} needs {groups}; give both",
    ),
    Refusal(
        lambda case: bool(case.settings.augment) and case.settings.image_shape is None,
        "{augment} is {settings.augment}, but {image_shape} is not given; give the height and "
        "width of the images",
    ),
    Refusal(
        lambda case: (
            case.settings.clip > 0 and case.asked is not None and not case.asked.can_be_clipped
        ),
        "{clip} is {settings.clip:g}, but {features} makes values that are not clipped; leave "
        "{clip} out",
    ),
)
