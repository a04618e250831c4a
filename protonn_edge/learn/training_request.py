"""A training to check, which its parts refuse by one sentence each; see `learn.refusals`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import KEYWORDS

if TYPE_CHECKING:
    from protonn_edge.model.model import Model


class Incompatible(InputError):
    """The training is refused by one of its parts."""


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A training to check: its settings and properties of its points."""

    settings: Any  # settings of the kind of classifier
    # what labels are: "class", "labels" or "value"; None before the points are read, from which the
    # shapes of points may follow, too
    predicts: str | None = "class"
    in_groups: bool = False  # whether the points come in groups
    given: frozenset[str] = frozenset()  # options given on the command line

    def refuse(self, sentence: str) -> NoReturn:
        """Refuse the training."""
        raise Incompatible(sentence)

    def refuse_given(self, given: str, because: str) -> None:
        """Refuse an option, unless it is "", that something else in the training excludes."""
        if given:
            self.refuse(f"{given} is given, but {because}; leave {given} out")

    def refuse_without_effect(self, names: str, because: str) -> None:
        """Refuse the first of these parameters, separated by blanks, that is given."""
        if option := self.first_given(names):
            self.refuse(f"{option} has no effect, because {because}; leave {option} out")

    @property
    def has_points(self) -> bool:
        """Whether the points are known, so that nothing follows from them any more."""
        return self.predicts is not None

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
        """Return the option of the first of these parameters that is given on the command line."""
        return next((option_of(name) for name in names.split() if name in self.given), "")

    def first_set(self, names: str) -> str:
        """Return the option of the first of these parameters that is given or not the default."""
        is_set = (name for name in names.split() if name in self.given or self.differs(name))
        return next(map(option_of, is_set), "")

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


def option_of(parameter: str) -> str:
    """Return a parameter as the command line writes it, if it has the parameter."""
    options = (f"--{option}" for option, keyword in KEYWORDS.items() if keyword == parameter)
    return next(options, parameter)
