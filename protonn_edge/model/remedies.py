"""What to change where a model does not fit a board, or loses accuracy by becoming integers."""

from __future__ import annotations

from typing import NamedTuple

FEWER_FEATURES = "fewer features (of images: --average-pooling)"
"""What makes a model of any kind smaller."""


class Remedies(NamedTuple):
    """What to train a kind of classifier with, each a part of a sentence.

    Attributes
    ----------
    flash : tuple of str
        For a smaller model.
    sram : str
        For fewer variables.
    cycles : str
        For fewer cycles for a feature.
    accuracy : str
        For integers that lose less.
    """

    flash: tuple[str, ...]
    sram: str
    cycles: str
    accuracy: str
