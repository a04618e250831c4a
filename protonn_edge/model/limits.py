"""What numbers and words of a model may be; options need no more of models than this."""

from __future__ import annotations

SAMPLE_RATES = (1e-3, 1e6)
"""The range of samples per second of a channel."""

ONSETS = (1, 254)
"""The range of levels at which clips of sound begin, in steps of a byte."""

NORMALIZER_KINDS = ("none", "standard", "l2")
"""How the numbers of a normalizer are determined."""
