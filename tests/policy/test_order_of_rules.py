"""Of rules that judge the same point, the first one decides, whatever computes the answer."""

from __future__ import annotations

import pytest
from avr_tools import skip_without
from generated_programs import assert_equal_to_reference
from judging_rules import WEAK, Weak, add_templates, both_orders, judged_by_both

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.words import plans_for
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.integer_chain import IntegerChain


def plan_in_words(chain: IntegerChain) -> DevicePlan:
    return plans_for(chain, WORD_CORES["cortex-m0plus"])[0]


@both_orders
def test_numpy_answers_by_the_first(rule: type[Weak], decides: int) -> None:
    chain, Q, by_both = judged_by_both(rule)
    answers = chain.predict(Q)
    assert set(answers[by_both].tolist()) == {decides}
    assert {WEAK, NO_CLASS} <= set(answers.tolist())


@both_orders
@pytest.mark.parametrize("plan_of", [make_plan, plan_in_words])
def test_c_answers_as_numpy(
    rule: type[Weak], decides: int, plan_of, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("cc")
    add_templates(monkeypatch)
    chain, Q, by_both = judged_by_both(rule)
    assert set(chain.predict(Q[by_both]).tolist()) == {decides}
    with host_program(chain, plan_of(chain), sanitize=True) as program:
        assert_equal_to_reference(program, chain, Q)
