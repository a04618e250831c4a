"""The beginnings of clips of a recorded sound, at the same samples as on a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, saturated_steps
from protonn_edge.features.audio.onset import onsets_of
from protonn_edge.features.audio.stage import full_scale


@dataclass(frozen=True, eq=False)
class Clips:
    """Clips of a recording, in the way of `datasets.recordings.SegmentDetector`."""

    heard: NDArray[np.uint8]  # (n,): the samples as bytes of the device
    window: int  # samples per clip
    onset: int  # the threshold at which a clip begins; see `onset`

    @classmethod
    def of(cls, samples: NDArray[np.float32], window: int, onset: int) -> Self:
        """Return the clips of raw samples, (n, 1), with the full scale of these samples."""
        zero, step = full_scale(float(samples.min()), float(samples.max()))
        return cls(saturated_steps(samples[:, 0], zero, step, BYTE_MAXIMUM), window, onset)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Facts about it, for display."""
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
        """Whether a run is cut at onsets instead of a regular grid: always."""
        return True

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield the beginnings of clips in a part of a run, first..end - 1."""
        for begin in onsets_of(self.heard[first:end], self.window, self.onset):
            yield first + begin
