"""Remedies for models that do not fit a board or lose accuracy in integers."""

from __future__ import annotations

from typing import NamedTuple

FEWER_FEATURES = "fewer features (of images: --average-pooling)"
"""A remedy that makes any model smaller."""


class Remedies(NamedTuple):
    """Training options that help, each as part of a sentence.

    Attributes
    ----------
    flash : tuple of str
        For a smaller model.
    sram : str
        For fewer variables.
    cycles : str
        For fewer cycles for a feature.
    accuracy : str
        For less loss of accuracy in integers.
    """

    flash: tuple[str, ...]
    sram: str
    cycles: str
    accuracy: str
