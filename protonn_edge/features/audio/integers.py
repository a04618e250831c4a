"""Energies of sound in integers, from bytes to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.features.audio.frames import FEATURE_MAXIMUM, Frames


@dataclass(frozen=True, eq=False)
class IntegerAudio(IntegerStage):
    """From the samples of a clip to its features.

    Attributes
    ----------
    clip : Frames
        The bands, whose values provably fit 16 bits, and the frames.
    onset : int
        The threshold at which a clip begins, for `pnn_onset`; see `onset`.
    """

    kind: ClassVar[str] = "audio"

    clip: Frames
    onset: int

    @property
    def n_inputs(self) -> int:
        """Samples."""
        return self.clip.n_features

    @property
    def n_outputs(self) -> int:
        """Features of all frames."""
        return self.clip.n_outputs

    @property
    def output(self) -> Range:
        """The range of the features."""
        return Range.of_bytes(self.n_outputs, FEATURE_MAXIMUM)

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the features (n, D) of clips of bytes (n, samples)."""
        return self.clip.of_bytes(x)
