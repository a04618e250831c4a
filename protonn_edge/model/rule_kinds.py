"""The kinds of rules that a policy may have, and what each brings to the rooms above models.

A kind is a folder of `protonn_edge.policy`, whose ``__init__`` has an object of a subclass of
`RuleKind`, `KIND`. Nothing else lists the kinds: those are there whose folders exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from protonn_edge.system.arrays import Array
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.lazy import folders_of
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from protonn_edge.data.naming import Notice
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.model.policy import FloatPolicy, FloatRule


class RuleKind:
    """A kind of rule, and what it adds to each room; by default nothing.

    A method imports what it returns, so that a command imports only what it uses.
    """

    name: ClassVar[str]  # of its folder, its rules and its templates
    array: ClassVar[str]  # of its rule in a model file
    keys: ClassVar[tuple[str, ...]] = ()  # of `FloatRule.described`; null without the rule

    def rule(self) -> type[FloatRule]:
        """Return the rule of a float model."""
        raise NotImplementedError

    # --- training: functions, or None ---

    # of labels y of `fit`: the `protonn_edge.learn.labels.ClassLabels` that they are, or None if
    # they are classes, or of another kind
    labels_of: Callable[[ArrayLike | None], Any] | None = None
    # of a classifier, points and their targets: the rule that every training fits
    fitted: Callable[[Any, ArrayLike, Array], FloatRule] | None = None

    def metric_for(self, dataset: Dataset, asked: str) -> Any:
        """Return the `protonn_edge.learn.search.limits.Metric` of a search, or None."""

    # --- commands ---

    # by command, the name of the `AddedOptions` that it adds, in the module `commands` of its
    # folder; for `train`, a `TrainAddition`
    options: ClassVar[Mapping[str, str]] = {}

    def describe(self, model: Any, dataset: Dataset, out: Any) -> JsonObject:
        """Return what a command prints as JSON about a trained model whose answers are no classes.

        The key "sentence" has the text to print.
        """
        raise NotImplementedError

    def unlearned(self, model: Any, dataset: Dataset, remedy: str) -> Sequence[Notice] | None:
        """Return warnings about a model that is no better than a constant; None if unknown."""

    # --- reports ---

    def sections(self) -> Sequence[Any]:
        """Return sections of a report, `protonn_edge.report.content.SectionOfRun`."""
        return ()

    def answer_sections(self) -> Sequence[Any]:
        """Return sections of a report about answers that are no classes."""
        return ()


@cache
def rule_kinds() -> tuple[RuleKind, ...]:
    """Return the kinds of rules, in the order of their names."""
    return tuple(import_module(folder).KIND for folder in folders_of("protonn_edge.policy"))


def options_of_rules(command: str) -> dict[str, type[AddedOptions]]:
    """Return what rules add to a command, by their folders in the package."""
    named = {f"policy.{k.name}": k.options[command] for k in rule_kinds() if command in k.options}
    modules = {folder: import_module(f"protonn_edge.{folder}.commands") for folder in named}
    return {folder: getattr(module, named[folder]) for folder, module in modules.items()}


def answering_kind(policy: FloatPolicy) -> RuleKind | None:
    """Return the kind of the rule whose answers are no classes, if a policy has one."""
    return next((kind for kind in rule_kinds() if kind.name == policy.answering), None)


def policy_of(arrays: Mapping[str, Array]) -> FloatPolicy:
    """Return the policy of which a model file has these arrays, among others."""
    from protonn_edge.model.policy import FloatPolicy

    stored = ((kind, arrays[kind.array]) for kind in rule_kinds() if kind.array in arrays)
    return FloatPolicy(tuple(kind.rule().of_array(array) for kind, array in stored))


def arrays_of(policy: FloatPolicy) -> dict[str, Array]:
    """Return a policy's arrays in a model file."""
    names = {kind.name: kind.array for kind in rule_kinds()}
    return {names[rule.name]: rule.to_array() for rule in policy.rules}


def fitted_rules(classifier: object, points: ArrayLike, targets: Array) -> list[FloatRule]:
    """Return the rules that every training fits for a classifier."""
    return [kind.fitted(classifier, points, targets) for kind in rule_kinds() if kind.fitted]


def described(policy: FloatPolicy) -> JsonObject:
    """Return what the JSON object of a command has of a policy, with None for absent rules."""
    absent = dict.fromkeys(key for kind in rule_kinds() for key in kind.keys)
    return absent | {key: value for rule in policy.rules for key, value in rule.described().items()}
