"""A reply that takes longer than the watchdog waits is no hang of the program.

Only the main loop and computations fed the watchdog: at 1,200 baud it reset the board in the middle
of every reply with 100 scores, so that no such request was ever answered.
"""

from __future__ import annotations

from protonn_edge.device.protocol import ScoresReply, ScoresRequest, StatsReply, StatsRequest

CLASSES = 70  # whose reply has 289 bytes: 2.4 s at 1,200 baud


def test_scores_arrive_however_long_they_take_on_the_line(start):
    uno, line = start(BAUD="1200UL", FAKE_CLASSES=f"{CLASSES}u")
    before = uno.stats().cycles
    reply = line.ask(ScoresRequest(bytes([7, 0, 0, 255])))
    assert isinstance(reply, ScoresReply)
    assert len(reply.scores) == CLASSES
    assert uno.stats().cycles - before > 2.2 * 16_000_000
    stats = line.ask(StatsRequest())
    assert isinstance(stats, StatsReply)
    assert stats.resets == 1  # the opening of the line
    assert uno.stats().faults == ()
