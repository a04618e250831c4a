"""What cannot be combined in a training: each part refuses what it cannot do, by one sentence.

Here are the refusals of the parts that every training has. Those of a kind of feature or classifier
are next to its parameters. In sentences, names of parameters are in braces; the command
line replaces them by its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A training to check: its settings and properties of its points."""

    settings: Any  # settings of the kind of classifier
    predicts: str = "class"  # what labels are: "class", "labels" or "value"
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
    def clips(self) -> bool:
        """Whether a share of outliers is to be clipped, whatever the points are."""
        return self.settings.clip not in (0, "auto")

    @property
    def for_floats_alone(self) -> bool:
        """Whether the trained model cannot be converted to integers."""
        return bool(self.settings.normalizer_kind == "l2")

    def first_given(self, names: str) -> str:
        """Return the first of these parameters that is given on the command line, in braces."""
        return next((f"{{{name}}}" for name in names.split() if name in self.given), "")

    def first_set(self, names: str) -> str:
        """Return the first of these parameters that is given or not the default, in braces."""
        is_set = (name for name in names.split() if name in self.given or self.differs(name))
        return next((f"{{{name}}}" for name in is_set), "")

    def names_only_for(self, what: str) -> str:
        """Return the parameters that only "classes" or "devices" use, separated by blanks."""
        declared: Mapping[str, Any] = self.settings.parameters
        return " ".join(name for name, each in declared.items() if what in each.only.split())

    def differs(self, name: str) -> bool:
        """Return whether the kind of classifier has a parameter, and it is not the default."""
        if not hasattr(self.settings, name):
            return False
        value, default = getattr(self.settings, name), getattr(type(self.settings), name, None)
        return value is not default and not (type(value) is type(default) and value == default)


@dataclass(frozen=True)
class Refusal:
    """A combination that a part of a training cannot be in."""

    # whether a request is refused; a text is what is refused in it, such as "{clip}"
    when: Callable[[TrainingRequest], object]
    # the reason, and what to try: ``{it}`` is the text, ``{name}`` the caller's name for a
    # parameter, ``{settings.name}`` its value
    sentence: str

    def refused(self, case: TrainingRequest) -> str | None:
        """Return the sentence by which the request is refused, if it is."""
        refused = self.when(case)
        return self.sentence.replace("{it}", str(refused)) if refused else None


def without_effect(when: Callable[[TrainingRequest], object], names: str, because: str) -> Refusal:
    """Return the refusal of parameters, separated by blanks, that nothing uses if this holds."""
    return Refusal(
        lambda case: when(case) and case.first_given(names),
        f"{{it}} has no effect, because {because}; leave {{it}} out",
    )


def excluded(
    when: Callable[[TrainingRequest], object], because: str, given: str = "{it}"
) -> Refusal:
    """Return the refusal of what is given, although something else in the training excludes it."""
    return Refusal(when, f"{given} is given, but {because}; leave {given} out")


class _Names(dict[str, Any]):
    """Names a parameter as in Python, unless it has another name."""

    def __missing__(self, name: str) -> str:
        return name


class Incompatible(InputError):
    """The training is refused by one of its parts."""


def check_compatible(
    case: TrainingRequest, own: Iterable[Refusal] = (), names: Mapping[str, str] | None = None
) -> None:
    """Refuse a training by the first refusal that applies; `own` are those of its kind.

    The sentence has these names of parameters in place of Python's.
    """
    sentence = refusal_of(case, own)
    if sentence is not None:
        named = _Names(names or {}, settings=case.settings, case=case)
        raise Incompatible(sentence.format_map(named))


def refusal_of(case: TrainingRequest, own: Iterable[Refusal] = ()) -> str | None:
    """Return the sentence of the first refusal that applies, or None."""
    from protonn_edge.learn.requests import refusals

    every = (*REFUSALS, *refusals(), *own)
    return next(filter(None, (each.refused(case) for each in every)), None)


def _for_one_label_each(case: TrainingRequest) -> str:
    """Return what learns from the class of each point, and is wanted without such classes."""
    if case.predicts == "class":
        return ""
    settings = case.settings
    if case.in_groups and settings.group_shift > 0 and case.first_set("group_shift"):
        return "{group_shift}"
    names = f"class_weight strangers {case.names_only_for('classes')}"
    return case.first_set(names + " copies" * (case.predicts == "labels"))


def _unused(case: TrainingRequest) -> str:
    """Return why a parameter has no effect that only other values of another one use."""
    for name, each in case.settings.parameters.items():
        for setting in (word for word in each.only.split() if "=" in word):
            other, _, values = setting.partition("=")
            if name in case.given and getattr(case.settings, other) not in values.split("|"):
                shown = " or ".join(map(repr, values.split("|")))
                return f"{{{name}}} has no effect, because only {{{other}}} {shown} uses it"
    return ""


def _of_other_targets(case: TrainingRequest) -> bool:
    model = case.model
    return model is not None and model.policy.predicts != case.predicts


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.predicts == "labels" and "labels" not in case.settings.takes,
        "points have sets of labels, but this kind of classifier learns one class for each; train "
        "a ProtoNN ({classifier} protonn)",
    ),
    Refusal(_for_one_label_each, "{it} is for points of one class each; leave it out"),
    Refusal(
        lambda case: case.for_floats_alone and case.first_set(case.names_only_for("devices")),
        "{it} is not possible, because no device supports the {normalization} 'l2'; leave it out",
    ),
    Refusal(_unused, "{it}; leave it out"),
    Refusal(
        _of_other_targets,
        "the data and the model to start from differ in what they predict: classes, sets of labels "
        "or numbers; start from a model of the same kind, or from none",
    ),
    excluded(
        lambda case: (
            case.model is not None
            and case.asked is not None
            and not case.asked.continues(case.model.features, case.settings)
        ),
        "the model to start from has features of its own, or none",
        "{features}",
    ),
    Refusal(
        lambda case: (
            "group_shift" in case.given and case.settings.group_shift > 0 and not case.in_groups
        ),
        "{group_shift} moves points only between the groups that {groups} names, not between those "
        "that the data has of its own; give both",
    ),
    Refusal(
        lambda case: (
            bool(case.settings.augment)
            and case.settings.image_shape is None
            and (case.asked is None or case.asked.augmentation(1.0) is None)
        ),
        "{augment} moves images, but their size is not given; give {image_shape}, such as "
        "{image_shape} 28x28, or leave {augment} out",
    ),
    excluded(
        lambda case: case.clips and case.asked is not None and not case.asked.can_be_clipped,
        "{features} makes values that are not clipped",
        "{clip}",
    ),
)
