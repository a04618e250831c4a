"""Exported libraries pass their self-tests on cores of 32 bits, whichever compiler made them.

`python -m codegen.words.exported` in tests/ runs all kinds for all boards.
"""

from __future__ import annotations

import pytest
from codegen.words.chips import HOW, lacks_clang
from codegen.words.exported import MODELS, boards, chip_of, differing

GCC = [(board, list(MODELS)[number % len(MODELS)]) for number, board in enumerate(boards())]


@pytest.mark.parametrize(("board", "kind"), GCC)
def test_libraries_pass_their_self_test_without_a_warning(board: str, kind: str) -> None:
    if chip_of(board).missing:
        pytest.skip(HOW)
    assert differing(board, MODELS[kind](), "-Os") == 0


@pytest.mark.parametrize("board", ["pico", "uno-r4-minima", "esp32-c3"])
def test_another_compiler_makes_the_same_answers(board: str) -> None:
    if chip_of(board).missing:
        pytest.skip(HOW)
    if lacks_clang():
        pytest.skip("ziglang is not installed; to run: pip install ziglang")
    assert differing(board, MODELS["windows"](), compiler="clang") == 0


def test_a_wrong_score_is_found() -> None:
    if chip_of("uno-r4-minima").missing:
        pytest.skip(HOW)
    assert differing("uno-r4-minima", MODELS["linear"](), wrong=True) == 1
