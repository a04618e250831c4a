"""Two made-up rules with an answer of their own, before and after `rejection` by their names.

No two rules of the package have such answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from jinja2 import ChoiceLoader, DictLoader
from linear_factory import random_linear_model
from model_factory import random_inputs, rejecting_some

from protonn_edge.codegen.renderer import PREFIX, template_environment
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import IntegerRule, OtherAnswer, with_rules
from protonn_edge.model.quantization import quantize

WEAK = 254
TEMPLATE = """
{% macro public(rule) %}

#define PNN_WEAK 254u
{% endmacro %}

{% macro judge(s, rule, answer) %}
    if (largest < {{ rule.limit }}) {
        {{ answer }} PNN_WEAK;
    }
{% endmacro %}
"""


@dataclass(frozen=True)
class Weak(IntegerRule):
    """The answer is weak if the largest score is below a limit."""

    other_answers = (OtherAnswer(WEAK, "weak", "WEAK", "of a low score"),)
    limit: int

    def judged(self, answers: Any, scores: Any, nearest: Any) -> Any:
        del nearest
        return np.where(scores.max(axis=1) < self.limit, WEAK, answers)

    def formula(self, answer: Any, scores: Any, nearest: Any, reached: Any) -> Any:
        del nearest, reached
        return scores.op("ReduceMax", [1]).op("Less", self.limit).op("Where", WEAK, answer)


class First(Weak):
    name = "first"


class Second(Weak):
    name = "second"


ORDERS = {"weak, then unknown": (First, WEAK), "unknown, then weak": (Second, NO_CLASS)}
"""The made-up rule beside `rejection`, and the answer where both judge."""

both_orders = pytest.mark.parametrize(("rule", "decides"), ORDERS.values(), ids=list(ORDERS))


def add_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the templates of the rules where the package's own are."""
    own = DictLoader({f"policy/{rule.name}.j2": TEMPLATE for rule in (First, Second)})
    environment = template_environment("c", PREFIX)
    assert environment.loader is not None
    monkeypatch.setattr(environment, "loader", ChoiceLoader([environment.loader, own]))


def judged_by_both(rule: type[Weak]) -> tuple[IntegerChain, np.ndarray, np.ndarray]:
    """Return a chain with a rule and `rejection`, points (n, D), and which of them both judge."""
    plain = quantize(random_linear_model(features=12, classes=5))
    Q = random_inputs(8, 60, plain)
    weak = rule(int(np.median(plain.scores(Q).max(axis=1))))
    rejecting = rejecting_some(plain, Q, 4)  # by the margin
    judged = np.array([each.predict(Q) >= WEAK for each in (rejecting, with_rules(plain, weak))])
    assert len(set(zip(*judged.tolist(), strict=True))) == 4  # by none, by either, by both
    return with_rules(rejecting, weak), Q, judged.all(axis=0)
