"""A combination that a part of a training refuses, by one sentence.

In sentences, names of parameters are in braces; the options of the command line replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protonn_edge.model.model import Model


class NotKnownYet(Exception):
    """A refusal depends on a property of points that are not read yet."""


class OfPoints:
    """A property of points that are not read yet; to compare it raises `NotKnownYet`."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise NotKnownYet


class BeforePoints:
    """Settings before points are read, from which some follow unless they are `given`."""

    _FOLLOWING = ("image_shape", "window_shape", "sample_rate", "background_noise")

    def __init__(self, settings: Any, given: Collection[str]) -> None:
        self._settings, self._given = settings, given

    def __getattr__(self, name: str) -> Any:
        if name in self._FOLLOWING and name not in self._given:
            raise NotKnownYet
        return getattr(self._settings, name)


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A training to check: its settings and properties of its points."""

    settings: Any  # settings of the kind of classifier
    predicts: str | OfPoints = "class"  # what labels are: "class", "labels" or "value"
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

    def asks_for(self, word: str) -> bool:
        """Whether the features are those that begin with this word."""
        return self.asked is not None and self.asked.word == word

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
        value, default = getattr(self.settings, name), self.settings.default_of(name)
        return value is not default and not (type(value) is type(default) and value == default)


@dataclass(frozen=True)
class Refusal:
    """A combination that a part of a training cannot be in."""

    # whether a request is refused; a text is what is refused in it, such as "{clip}"
    when: Callable[[TrainingRequest], object]
    # the reason, and what to try: ``{it}`` is the text, ``{name}`` the option of a parameter,
    # ``{settings.name}`` its value
    sentence: str

    def refused(self, case: TrainingRequest) -> str | None:
        """Return the sentence by which the request is refused, if it is."""
        try:
            refused = self.when(case)
        except NotKnownYet:
            return None
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
