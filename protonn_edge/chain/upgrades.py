"""Model files of older formats: each function converts the arrays of one format to the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protonn_edge.chain.array_checks import Arrays


def _without_pooling(arrays: Arrays) -> Arrays:
    return arrays | {"reduction_shapes": np.empty((0, 2), dtype=np.int64)}


def _without_threshold(arrays: Arrays) -> Arrays:
    return arrays | {"threshold": np.empty(0), "cutoff": np.array(0.0)}


def _neither_clipped_nor_deskewed(arrays: Arrays) -> Arrays:
    return arrays | {"clipped": np.array(0), "deskewed": np.empty(0)}


def _without_optional_arrays(arrays: Arrays) -> Arrays:
    return arrays


def _without_raw_exponents(arrays: Arrays) -> Arrays:
    return arrays | {"raw_exponents": np.empty(0, dtype=np.int64)}


def _without_classifier(arrays: Arrays) -> Arrays:
    return arrays | {"classifier": np.array("protonn")}


UPGRADES: dict[int, Callable[[Arrays], Arrays]] = {
    1: _without_pooling,
    2: _without_threshold,
    3: _neither_clipped_nor_deskewed,
    4: _without_optional_arrays,
    5: _without_raw_exponents,
    6: _without_classifier,
}
"""Functions that upgrade a file to the next format, by the number of the old format."""
