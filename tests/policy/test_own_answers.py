"""What the functions that a rule adds to the C answer: as NumPy, on the host and on the Uno.

The program ``RULE/RULE_main.c`` sends the answers to a point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from byte_programs import answered_by, answered_by_uno, host_program, uno_program
from model_factory import random_inputs, random_model, sharp
from policy.value.numbers import REGRESSORS, fitted

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.label_sets.rule import IntegerLabelSets
from protonn_edge.policy.value.rule import IntegerValue


def sure(logit: float) -> IntegerChain:
    """Return a chain of which a unit of the scores is worth so much in logits."""
    chain = quantize(random_model())
    return sharp(chain, logit / chain.score_scale)


def with_labels(share: float) -> IntegerChain:
    """Return a chain of which points have about a share of the labels."""
    chain = quantize(random_model())
    threshold = int(np.quantile(chain.scores(random_inputs(0, 60, chain)), 1 - share))
    ranked: IntegerChain = with_rules(chain, IntegerLabelSets(threshold))
    return ranked


def of_number(kind: str) -> IntegerChain:
    return quantize(fitted(kind).model_)


def per_cent(chain: IntegerChain, scores: np.ndarray) -> np.ndarray:
    return chain.policy.find(Confidence).percent(scores)[:, None]


def labels_in_order(chain: IntegerChain, scores: np.ndarray) -> np.ndarray:
    """Return each label, the best first, with whether a point has it, and a 0."""
    order = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.take_along_axis(chain.policy.values(scores), order, axis=1)
    pairs = np.stack([order, chosen], axis=2).reshape(len(scores), -1)
    return np.hstack([pairs, np.zeros((len(scores), 1), int)]).astype(np.uint8)


def values(chain: IntegerChain, scores: np.ndarray) -> np.ndarray:
    return chain.policy.find(IntegerValue).in_units(scores).astype("<i4")[:, None]


Answers = Callable[[IntegerChain, np.ndarray], np.ndarray]
CHAINS: dict[str, tuple[str, Answers, Callable[[], IntegerChain]]] = {
    "rather sure": ("confidence", per_cent, partial(sure, 3e-3)),
    "all are alike": ("confidence", per_cent, partial(sure, 1e-9)),
    "hardly sure": ("confidence", per_cent, partial(sure, 2e-4)),
    "sure": ("confidence", per_cent, partial(sure, 0.8)),
    "one unit less is nothing": ("confidence", per_cent, partial(sure, 50.0)),
    "some labels": ("label_sets", labels_in_order, partial(with_labels, 0.3)),
    "no label": ("label_sets", labels_in_order, partial(with_labels, 0.0)),
    "all labels": ("label_sets", labels_in_order, partial(with_labels, 1.0)),
    **{kind: ("value", values, partial(of_number, kind)) for kind in REGRESSORS},
}
"""The folder of the rule, what is to be answered to scores (n, L), and what makes a chain."""


def made(name: str, n: int) -> tuple[IntegerChain, Path, np.ndarray, np.ndarray]:
    """Return a chain, its program, and n points (n, D) with what is to be answered to them."""
    rule, answers, chain_of = CHAINS[name]
    chain = chain_of()
    Q = random_inputs(0, 60, chain)[:n]
    return (
        chain,
        Path(__file__).parent / rule / f"{rule}_main.c",
        Q,
        answers(chain, chain.scores(Q)),
    )


@pytest.mark.parametrize("name", CHAINS)
def test_host_c_answers_as_numpy_under_sanitizers(tmp_path: Path, name: str) -> None:
    chain, main, Q, expected = made(name, 60)
    assert answered_by(host_program(chain, main, tmp_path), Q.tobytes()) == expected.tobytes()


@needs_emulated_avr
@pytest.mark.parametrize("name", ["rather sure", "some labels", "protonn", "boosting"])
def test_the_uno_answers_as_numpy(tmp_path: Path, name: str) -> None:
    chain, main, Q, expected = made(name, 20)
    found = answered_by_uno(uno_program(chain, main, tmp_path), map(bytes, Q), expected[0].nbytes)
    assert found == expected.tobytes()


def test_answers_differ() -> None:
    different = {name: np.unique(made(name, 60)[3]).tolist() for name in CHAINS}
    assert different["all are alike"] == [25]  # per cent, of four classes
    assert different["one unit less is nothing"] == [25, 100]
    assert all(len(different[name]) > 10 for name in ("rather sure", *REGRESSORS))
