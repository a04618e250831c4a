"""Calls for which the solver gives up: neither proven nor refuted, so they are compared."""

from __future__ import annotations

GAPS = {
    "decision 3: decision_find_largest": {1},
    "decision 4: decision_find_largest": {1},
    "average_pooling 1: average_pooling_sum_part": {4, 10, 20, 22},
    "average_pooling 4: average_pooling_sum_part": {20, 22, 28},
    "window_features 0: window_features_take_sample": {2},
    "window_features 1: window_features_take_sample": {2},
    "window_features 2: window_features_take_sample": {2},
    "audio 1: audio_filter": {0},
    "convolution 3: linear_add_0": {3},
    "int8_layer 2: linear_add_0": {3},
}
"""The numbers of calls among those of a function, from 0 on, in `calls.CALLS`."""
