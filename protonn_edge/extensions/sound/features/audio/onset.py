"""How recordings of one channel are cut into clips of sound, which begin with the sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.takes.recordings import SegmentDetector
from protonn_edge.extensions.sound.features.audio.clips import full_scale
from protonn_edge.extensions.sound.onset import onsets_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, saturated_steps
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError


@dataclass(frozen=True, eq=False)
class Clips(SegmentDetector):
    """The clips of a recording, which begin where a sound reaches a level; see `onset`."""

    option: ClassVar[str] = "--onset"

    heard: NDArray[np.uint8]  # (n,): the samples as the device's bytes
    onset: int  # the level, in steps of these bytes

    @classmethod
    def of(cls, samples: NDArray[np.float32], window: int, onset: int) -> Self:
        """Return the clips of raw samples (n, 1), converted with their own full scale."""
        zero, step = full_scale(float(samples.min()), float(samples.max()))
        heard = saturated_steps(samples[:, 0], zero, step, BYTE_MAXIMUM)
        facts = (("clips", f"begin where the sound exceeds the level {onset}"),)
        missing = f"no sound above the level {onset} is followed by enough samples for a clip"
        return cls(window, float(onset), facts, missing, heard, onset)

    def moves(self, _first: int, _end: int) -> bool:  # silence is no raster of clips
        """Whether a run is cut at onsets instead of a regular grid: always."""
        return True

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where clips begin in the part first..end - 1 of a run."""
        for begin in onsets_of(self.heard[first:end], self.window, self.onset):
            yield first + begin

    def arrays(self) -> dict[str, Array]:
        """Return the level of the clips."""
        return {"onset": np.array(self.onset)}


def at_onsets(samples: NDArray[np.float32], window: int, onset: int) -> Clips:
    """Return the clips of raw samples (n, 1), which begin where a sound reaches a level.

    Raises `InputError` without samples.
    """
    if not samples.size:
        raise InputError(
            "the recordings have no values in which a sound could begin; add a channel of sound"
        )
    return Clips.of(samples, window, onset)
