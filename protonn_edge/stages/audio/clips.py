"""Where clips of a recorded sound begin: at the very samples at which a device hears them begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.audio.onset import onsets_of
from protonn_edge.stages.audio.stage import full_scale
from protonn_edge.stages.input_quantizer.saturation import BYTE_MAXIMUM, saturated_steps


@dataclass(frozen=True, eq=False)
class Clips:
    """Clips of a recording, in the way of `datasets.recordings.Begins`.

    Attributes
    ----------
    heard : ndarray of shape (n,), uint8
        The samples, as the device has them.
    window : int
        Samples of a clip.
    onset : int
        The level of a beginning; see `onset`.
    """

    heard: NDArray[np.uint8]
    window: int
    onset: int

    @classmethod
    def of(cls, samples: NDArray[np.float32], window: int, onset: int) -> Self:
        """Return the clips of raw samples, (n, 1), of the full scale that these have."""
        zero, step = full_scale(float(samples.min()), float(samples.max()))
        return cls(saturated_steps(samples[:, 0], zero, step, BYTE_MAXIMUM), window, onset)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is worth knowing of it, for people."""
        return (("clips", f"begin at a level of {self.onset}"),)

    @property
    def missing(self) -> str:
        """Why a class may have no clip, for a sentence."""
        return f"no whole clip begins at a level of {self.onset}"

    @property
    def level(self) -> float:
        """The level of a beginning."""
        return float(self.onset)

    def moves(self, first: int, end: int) -> bool:  # noqa: ARG002  (silence is no raster of clips)
        """Whether a run is cut where something begins, rather than in a raster: always."""
        return True

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where clips begin in a part of a run, first..end - 1."""
        for begin in onsets_of(self.heard[first:end], self.window, self.onset):
            yield first + begin
