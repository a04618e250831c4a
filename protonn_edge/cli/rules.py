"""The options of commands that the rules of a policy bring; see `protonn_edge.policy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from protonn_edge.chain.policy import rule_modules
from protonn_edge.cli.command import together

if TYPE_CHECKING:
    from protonn_edge.training.targets import Target


class GivenRules(NamedTuple):
    """The options of all rules, as they were given."""

    options: dict[str, Any]

    def steps(self, target: Target | None = None) -> list[Any]:
        """Return what the options ask a command to do.

        Each step has a `flag`; `prepare`, `check` and `after` for a training, `applied` for a
        trained model, and `to_json`.
        """
        steps = (module.step(self.options, target) for module in rule_modules("commands"))
        return [step for step in steps if step is not None]


def rule_options(command: str) -> Any:
    """Declare the options of all rules for a command."""
    parts: dict[str, Any] = {}
    for module in rule_modules("commands"):
        parts |= module.options(command)
    return together(lambda **options: GivenRules(options), parts)


def rule_needs(command: str) -> dict[str, str]:
    """Return which of these options need others."""
    needs: dict[str, str] = {}
    for module in rule_modules("commands"):
        needs |= module.NEEDS.get(command, {})
    return needs


def rule_examples(command: str) -> tuple[str, ...]:
    """Return arguments for the examples in the help of a command."""
    modules = rule_modules("commands")
    return tuple(example for each in modules for example in each.EXAMPLES.get(command, ()))


def not_searched() -> str:
    """Return the options that a search for the best kind of model does not take."""
    return " ".join(module.NOT_SEARCHED for module in rule_modules("commands"))
