"""The word for the last windows: shares add up to 100, and Python, C and the board agree on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dense_factory
import forest_factory
import linear_factory
import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from byte_programs import answered_by, answered_by_uno, host_program, uno_program
from checkout import CHECKOUT
from hypothesis import given
from hypothesis import strategies as st
from model_factory import random_inputs, rejecting_some, tiny_integer_model

from protonn_edge.codegen.renderer import template_environment
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.confidence.voting import (
    UNDECIDED,
    Reporter,
    divided,
    marks_of,
    shares_of,
    word_of,
)
from protonn_edge.system.errors import InputError

WINDOWS = 2_000
AT_ONCE = 50  # windows that the emulated board is sent
MODELS: dict[str, Callable[[], IntegerChain]] = {
    "protonn": tiny_integer_model,
    "linear": lambda: linear_factory.random_chain(5, rows=4, features=12),
    "dense": lambda: dense_factory.random_chain(5, features=40, multipliers=(64,)),
    "forest": lambda: forest_factory.random_chain(5, features=12),
}
MAIN = """
#ifdef __AVR__
#include <avr/pgmspace.h>
#else
#define PROGMEM
#define pgm_read_byte(address) (*(address))
#endif
#include "{answer_loop}"
#define VOTES {votes}u
{word}
static void give_answer(void)
{{
    give(count_vote(pnn_finish()));
    give(reported);
    for (uint8_t l = 0; l < PNN_CLASSES; l++) {{
        give(shares[l]);
    }}
}}
"""


def judged(kind: str, *, softmax: bool = True) -> tuple[IntegerChain, np.ndarray]:
    """Return a model that rejects some points, and points between its classes."""
    chain = MODELS[kind]()
    Q = random_inputs(3, WINDOWS, chain)
    if softmax:
        spread = float(np.ptp(chain.scores(Q), axis=1).mean())
        chain = with_rules(chain, Confidence.of(3.0 / spread))
    return rejecting_some(chain, Q[:200], 1), Q


def main_of(chain: IntegerChain, votes: int, marks: tuple[int, ...], folder: Path) -> Path:
    """Write a program that answers with whether the word is news, the word, and the shares."""
    text = '{% import "export/voting.j2" as voting with context %}{{ voting.state() }}'
    text += '{{ voting.functions("it is news", false) }}'
    template = template_environment("export").from_string(text)
    word = template.render(model=chain, votes=votes, marks=marks, refractory=0, limited=False)
    main, loop = folder / "main.c", CHECKOUT / "tests" / "answer_loop.h"
    main.write_text(MAIN.format(answer_loop=loop, votes=votes, word=word))
    return main


def expected(chain: IntegerChain, Q: np.ndarray, votes: int, marks: tuple[int, ...]) -> bytes:
    labels, scores = chain.answers(Q)
    reporter, told = Reporter(votes, 0, marks), bytearray()
    for label, shares in zip(labels.tolist(), shares_of(chain.policy, labels, scores), strict=True):
        news = reporter.report(label, shares, 0)
        told += bytes([news, reporter.reported, *reporter.shares])
    return bytes(told)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("votes", [1, 3, 4])
@pytest.mark.parametrize("softmax", [True, False], ids=["softmax", "no softmax"])
def test_generated_c_has_the_shares_and_the_word_of_numpy(
    kind: str, votes: int, softmax: bool, tmp_path: Path
) -> None:
    chain, Q = judged(kind, softmax=softmax)
    marks = (45, 60, 0, 50)[: chain.n_classes] if votes > 1 else ()
    told = expected(chain, Q, votes, marks)
    program = host_program(chain, main_of(chain, votes, marks, tmp_path), tmp_path)
    assert answered_by(program, Q.tobytes()) == told
    words = {*told[1 :: 2 + chain.n_classes]} - {UNDECIDED}
    assert NO_CLASS in words
    assert len(words) > 2


@needs_emulated_avr
@pytest.mark.parametrize("kind", MODELS)
def test_the_board_has_the_shares_and_the_word_of_numpy(kind: str, tmp_path: Path) -> None:
    chain, Q = judged(kind)
    marks = (45, 60, 0, 50)[: chain.n_classes]
    elf = uno_program(chain, main_of(chain, 3, marks, tmp_path), tmp_path)
    size = AT_ONCE * (2 + chain.n_classes)
    pieces = (Q[at : at + AT_ONCE].tobytes() for at in range(0, WINDOWS, AT_ONCE))
    assert answered_by_uno(elf, pieces, size) == expected(chain, Q, 3, marks)


@given(
    scores=st.lists(
        st.lists(st.integers(-300, 300), min_size=4, max_size=4), min_size=1, max_size=12
    ),
    logit=st.floats(1e-4, 1.0),
    unknown=st.sets(st.integers(0, 11)),
    votes=st.integers(1, 5),
    marks=st.one_of(st.just(()), st.tuples(*[st.integers(0, 100)] * 4)),
)
def test_the_word_is_a_class_exactly_if_its_share_is_the_longest_past_its_mark(
    scores: list[list[int]], logit: float, unknown: set[int], votes: int, marks: tuple[int, ...]
) -> None:
    S = np.array(scores)
    labels = np.array([NO_CLASS if i in unknown else int(row.argmax()) for i, row in enumerate(S)])
    rules = with_rules(tiny_integer_model(), Confidence.of(logit)).policy
    windows, reporter = shares_of(rules, labels, S), Reporter(votes, 0, marks)
    sums = windows.sum(axis=1)
    assert sums.tolist() == [0 if label == NO_CLASS else 100 for label in labels]
    for number, (label, shares) in enumerate(zip(labels.tolist(), windows, strict=True), 1):
        if label != NO_CLASS:
            assert shares[label] == shares.max()
        reporter.report(label, shares, number)
        latest = windows[max(0, number - votes) : number]
        exact = latest.sum(axis=0) / len(latest)
        assert np.abs(reporter.shares - exact).max() <= 4  # the leader has what the others leave
        assert np.abs(np.delete(reporter.shares - exact, exact.argmax())).max() <= 2
        none = 100 - sum(reporter.shares)
        past = [s for s, mark in zip(reporter.shares, marks or [0] * 4, strict=True) if s >= mark]
        if 2 * number > votes:
            said = reporter.reported
            assert (said == NO_CLASS) == (max(past, default=0) <= none)
            assert said == NO_CLASS or reporter.shares[said] == max(past)
        else:
            assert reporter.reported == UNDECIDED


def test_a_leader_wins_a_tie_and_marks_are_reached_by_equality() -> None:
    assert word_of((40, 40, 20), 1, ()) == 1
    assert word_of((40, 40, 20), 1, (40, 41, 0)) == 0
    assert word_of((40, 40, 20), 1, (41, 41, 0)) == 2
    assert word_of((33, 33), 0, ()) == NO_CLASS  # as much as none of them


def test_quotients_pass_their_rests_on() -> None:
    amounts, leaders = np.array([[100, 100, 100], [200, 1, 99]]), np.array([2, 0])
    assert divided(amounts, np.array([3, 3]), leaders).tolist() == [[33, 33, 34], [67, 0, 33]]


def test_one_window_without_marks_has_the_models_own_answer() -> None:
    for kind in MODELS:
        chain, Q = judged(kind)
        told = expected(chain, Q, 1, ())[1 :: 2 + chain.n_classes]
        assert [*told] == chain.predict(Q).tolist()


def test_marks_are_of_a_class_or_of_all_others() -> None:
    classes = ("still", "a=b", "swing")
    assert marks_of([("a=b", 80), ("", 50)], classes) == (50, 80, 50)
    assert marks_of([("still", 0)], classes) == marks_of([], classes) == ()
    with pytest.raises(InputError, match=r"--mark: 'jump', expected one of still, a=b, swing"):
        marks_of([("jump", 50)], classes)
