"""Sound on chips of 32 bits: the steps of a logarithm."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, Words
from protonn_edge.extensions.sound.features.audio.frames import STEPS
from protonn_edge.extensions.sound.features.audio.integers import IntegerAudio

_BAND_BYTES, _ONSET_BYTES = 6, 5


def words(stage: IntegerAudio) -> Words:
    """Return the steps; the coefficients of bands are in the template."""
    about = "The part of a logarithm given by the five bits after the leading 1"
    tables = {"steps": ConstantTable("uint8_t", np.array(STEPS).reshape(2, 16), about)}
    return Words(tables, other_bytes=_BAND_BYTES * len(stage.clip.bands), own_bytes=_ONSET_BYTES)
