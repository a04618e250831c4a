"""Calls for which the solver gives up: neither proven nor refuted, so they are compared."""

from __future__ import annotations

GAPS = {
    "average_pooling 1: average_pooling_sum_part": {4, 10, 20, 22},
    "audio 1: audio_filter": {0},
}
"""The numbers of calls among those of a function, from 0 on, in `calls.CALLS`."""
