"""The policy of the answer: what a model concludes from its scores.

Without rules, the answer is the class with the highest score. A rule may give another answer, such
as "unknown", or add a figure to each answer. Every kind of rule is a folder of
`protonn_edge.policy`, which brings the rule's part of each room; see
`protonn_edge.model.rule_kinds`. A model has its rules in the units of its float scores, and its
integer chain in units of the integer scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.figures import Facts, Figure
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.model.formulas import Operand
    from protonn_edge.model.head import Head
    from protonn_edge.model.integer_stage import IntArray, Range


class OtherAnswer(NamedTuple):
    """An answer that is no class."""

    code: int  # in place of a class's index
    name: str
    constant: str  # in generated C, after ``PNN_``
    meaning: str


class Units(NamedTuple):
    """What rules need to know of an integer model."""

    score: float  # the float score that an integer score of 1 stands for
    nearest: int  # the integer for a nearness of 1
    n_classes: int
    n_new_classes: int  # number of last classes that score 0 until a device has learned them
    scores: tuple[int, int]  # the smallest and the largest integer score


class RuleCost(NamedTuple):
    """What a rule costs in a prediction, in the compiler's code (avr-gcc 5.4 at -O2)."""

    code: int = 0  # flash
    cycles: int = 0


class PolicyRule:
    """A rule of a policy: a frozen dataclass."""

    name: ClassVar[str]
    other_answers: ClassVar[tuple[OtherAnswer, ...]] = ()
    # "class"; a rule with other answers makes them "value", a number, or "labels", a set
    predicts: ClassVar[str] = "class"
    c_functions: ClassVar[tuple[str, ...]] = ()  # public ones, without prefix
    # words for scores that this rule does not judge, which begin with "without"
    without: ClassVar[str] = ""

    def judged(self, answers: IntArray, _scores: Array, _nearest: Array, /) -> IntArray:
        """Return the answers (n,), which this rule may change, from scores (n, L).

        The nearness (n,) measures how near the nearest known point is; see `Head`.
        """
        return answers

    def values(self, scores: Array) -> Array | None:
        """Return answers to scores (n, L), if they are no classes: numbers (n,), or sets (n, L)."""

    def words(self, scores: Array, classes: Sequence[str]) -> list[str] | None:
        """Return answers to scores (n, L) as text, if they are not names of classes."""

    def words_of(self, known: Array, classes: Sequence[str]) -> list[str] | None:
        """Return right answers, as of `values`, as text; empty for an unknown number."""

    def measured(
        self, _scores: Array, _known: Array, _groups: NDArray[np.int64] | None = None, /
    ) -> tuple[list[Figure], JsonObject]:
        """Return rows and JSON about scores (n, L), given the right answers, as of `values`.

        NaN stands for an unknown number. The groups (n,) of the points, such as persons, may be
        known.
        """
        return [], {}

    def about_answers(self) -> Facts:
        """Return rows about any answer, whether or not the right one is known."""
        return []


class FloatRule(PolicyRule, ABC):
    """A rule in the units of a float model, as a model file stores it."""

    @classmethod
    @abstractmethod
    def of_array(cls, array: Array) -> Self:
        """Return the rule that a model file stores; `InputError` if it is wrong."""

    @abstractmethod
    def to_array(self) -> NDArray[np.float64]:
        """Return its numbers, as a model file stores them."""

    @abstractmethod
    def in_integers(self, units: Units) -> IntegerRule | None:
        """Return the rule of an integer model; None if it does not need it."""

    def check(self, n_classes: int) -> None:
        """Raise `InputError` if a model with this number of scores cannot have the rule."""

    def logits(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as logits, of which the softmax gives probabilities."""
        return scores

    def probabilities(
        self, scores: NDArray[np.float64], *, are_logits: bool
    ) -> NDArray[np.float64] | None:
        """Return the probability of each label (n, L), if a point may have several."""

    def facts(self, _head: Head, /) -> Facts:
        """Return rows that describe the rule of a model with this head."""
        return []

    def described(self) -> JsonObject:
        """Return what the JSON object of a command has of it, by the keys of its kind."""
        return {}


class IntegerRule(PolicyRule):
    """A rule in the units of an integer model.

    Its part of generated C is ``templates/c/policy/NAME.j2``, with optional macros, and of the
    page of a library ``templates/export/policy/NAME.md.j2``.
    """

    hashed: ClassVar[bool] = False  # whether it changes answers, so that the model's hash has it

    @property
    def needs_nearest(self) -> bool:
        """Whether it compares the nearness."""
        return False

    @property
    def needs_second(self) -> bool:
        """Whether it compares the second largest score."""
        return False

    def check(self, chain: Any) -> None:
        """Raise `InputError` if an `IntegerChain` cannot have it."""

    def formula(
        self, answer: Operand, _scores: Operand, _nearest: Callable[[], Operand], _reached: Range, /
    ) -> Operand:
        """Return the answers (n, 1), which this rule may change, as `judged` does.

        Scores (n, L) are within a range; a function returns the nearness (n, 1).
        """
        return answer

    def figures(self, _scores: Array, /) -> dict[str, list[Any]]:
        """Return what it adds to each answer to scores (n, L), by name."""
        return {}

    def cost(self) -> RuleCost:
        """Return what it costs in a prediction, by default nothing."""
        return RuleCost()

    def page_data(self) -> JsonObject:
        """Return what the report's emulated device needs, as JSON types."""
        return {}


AnyRule = TypeVar("AnyRule", bound=PolicyRule)
OneRule = TypeVar("OneRule", bound=PolicyRule)


@dataclass(frozen=True)
class Policy(Generic[AnyRule]):
    """What a model concludes from scores; without rules, the first class with the highest score.

    Of rules that judge the same point, the first one decides, in every execution.
    """

    rules: tuple[AnyRule, ...] = ()

    def find(self, kind: type[OneRule]) -> OneRule | None:
        """Return the rule of a kind, if there is one."""
        return next((each for each in self.rules if isinstance(each, kind)), None)

    @property
    def other_answers(self) -> tuple[OtherAnswer, ...]:
        """The answers that are no class."""
        return tuple(answer for rule in self.rules for answer in rule.other_answers)

    @property
    def c_functions(self) -> tuple[str, ...]:
        """The public functions of the rules in generated C, without prefix."""
        return tuple(name for rule in self.rules for name in rule.c_functions)

    @property
    def without_words(self) -> str:
        """Words for scores that the rules do not judge, after a space; empty without rules."""
        return "".join(f" {rule.without}" for rule in self.rules if rule.without)

    def answers(self, scores: Array, nearest: Array) -> IntArray:
        """Return the answers (n,) from scores (n, L) and the nearness (n,) to known points."""
        answers: IntArray = scores.argmax(axis=1).astype(np.int64)
        for rule in reversed(self.rules):  # so that the first one has the last word
            answers = rule.judged(answers, scores, nearest)
        return answers

    def check(self, n_classes: int) -> None:
        """Raise `InputError` if a model with this number of scores cannot have the rules."""
        for rule in self.rules:
            fits = self.predicts in ("class", rule.predicts)
            what = "numbers" if self.predicts == "value" else "sets of labels"
            check(fits, f"rule {rule.name!r}", f"a model of {what}", "one of classes")
            if isinstance(rule, FloatRule):
                rule.check(n_classes)

    @property
    def predicts(self) -> str:
        """What the answers are: "class", "value" or "labels"."""
        every = (each.predicts for each in self.rules)
        return next((each for each in every if each != "class"), "class")

    @property
    def answering(self) -> str | None:
        """The name of the rule whose answers are no classes, if there is one."""
        return next((each.name for each in self.rules if each.predicts != "class"), None)

    def values(self, scores: Array) -> Array | None:
        """Return answers to scores (n, L), if they are no classes: numbers (n,), or sets (n, L)."""
        answering = next((each for each in self.rules if each.predicts != "class"), None)
        return None if answering is None else answering.values(scores)

    def facts(self, head: Head) -> Facts:
        """Return rows that describe the rules of a float model with this head."""
        rules = (rule for rule in self.rules if isinstance(rule, FloatRule))
        return [row for rule in rules for row in rule.facts(head)]

    def logits(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a float model's scores as logits, of which the softmax gives probabilities."""
        for rule in self.rules:
            scores = rule.logits(scores) if isinstance(rule, FloatRule) else scores
        return scores

    def words(self, scores: Array, classes: Sequence[str]) -> list[str] | None:
        """Return answers to scores (n, L) as text, if they are not names of classes."""
        found = (rule.words(scores, classes) for rule in self.rules)
        return next((each for each in found if each is not None), None)

    def measured(
        self,
        scores: Array,
        known: Array | None,
        groups: NDArray[np.int64] | None = None,
    ) -> tuple[list[Figure], JsonObject]:
        """Return figures and JSON about scores of points whose right answers are no classes."""
        figures, record = list[Figure](), JsonObject()
        for rule in self.rules:
            if known is not None:
                own, measured = rule.measured(scores, known, groups)
                figures += own
                record |= measured
        return figures, record

    def labels(self, classes: Sequence[str]) -> dict[int, str]:
        """Return the names of all answers, by index."""
        names = dict(enumerate(classes))
        return {**names, **{each.code: each.name for each in self.other_answers}}


def about_answers(policy: Policy[Any]) -> Facts:
    """Return rows about any answer, whether or not the right one is known."""
    return [row for rule in policy.rules for row in rule.about_answers()]


FloatPolicy = Policy[FloatRule]
IntegerPolicy = Policy[IntegerRule]


def in_integers(policy: FloatPolicy, units: Units) -> IntegerPolicy:
    """Return the policy of an integer model."""
    rules = (rule.in_integers(units) for rule in policy.rules)
    return IntegerPolicy(tuple(rule for rule in rules if rule is not None))


def with_rules(model: Any, *rules: PolicyRule) -> Any:
    """Return a float or integer model with these rules in place of those of the same names."""
    every = {each.name: each for each in (*model.policy.rules, *rules)}
    return replace(model, policy=Policy(tuple(every[name] for name in sorted(every))))


def without_rules(model: Any, *kinds: type[PolicyRule]) -> Any:
    """Return a float or integer model without the rules of some kinds; by default, without any."""
    left = (each for each in model.policy.rules if not isinstance(each, kinds or PolicyRule))
    return replace(model, policy=Policy(tuple(left)))
