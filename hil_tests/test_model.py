"""The device gives the reference's scores, is as accurate as it must be, and fits the board."""

from __future__ import annotations

import pytest

from protonn_edge.hil import Session, summarize


def test_every_score_is_the_references(results, points):
    assert len(results) == len(points.Q)
    assert [result.index for result in results if result.mismatch is not False] == []


def test_no_answer_was_lost(results):
    assert [result.index for result in results if result.predicted is None] == []


def test_the_accuracy_does_not_fall_below_the_floor(results, points, board, pytestconfig):
    if points.y is None:
        pytest.skip("the classes of random points are not known; to run: --data with test points")
    assert summarize(results, board).accuracy >= pytestconfig.getoption("--accuracy-floor")


def test_flash_and_sram_stay_within_the_board(usage, board):
    usage.check(board)


def test_the_stack_stays_within_its_worst_case(session: Session, points, usage):
    for row in points.Q[:10]:
        session.predict(row, with_scores=True)
    assert 0 < session.stats().stack_bytes <= usage.stack_bytes


def test_nothing_is_lost_at_full_speed(session: Session, points):
    for row in points.Q[:50]:
        session.predict(row)
    stats = session.stats()
    assert (stats.frames_dropped, stats.overruns, session.retried) == (0, 0, 0)
