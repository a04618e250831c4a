"""Sound as part of the model; `frames` defines the computation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, parsed_json
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Signal
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer, saturated_steps
from protonn_edge.chain.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.datasets.cells import FLOAT32_MAX
from protonn_edge.datasets.onset import check_onset, onsets_of
from protonn_edge.datasets.recordings import SegmentDetector
from protonn_edge.errors import InputError
from protonn_edge.features.audio.frames import FEATURE_MAXIMUM, BandPass, Frames, mel_bands


@dataclass(frozen=True, eq=False)
class IntegerAudio(IntegerStage):
    """Maps the samples of a clip to its features."""

    kind: ClassVar[str] = "audio"

    clip: Frames  # the bands, with values that provably fit 16 bits, and the frames
    onset: int  # the threshold at which a clip begins, for `pnn_onset`; see `onset`

    @property
    def n_inputs(self) -> int:
        """Samples."""
        return self.clip.n_features

    @property
    def output(self) -> Range:
        """The range of the features."""
        return Range.of_bytes(self.clip.n_outputs, FEATURE_MAXIMUM)

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the features (n, D) of clips of bytes (n, samples)."""
        return self.clip.of_bytes(x)


RATES = (1_000.0, 20_000.0)  # the range of samples per second
DEFAULT_RATE = 8_000.0

# Usual ranges of samples, smallest first: from, to, and units per step of a byte. They are bytes,
# counts of a 10-bit ADC, and samples of WAV files as integers or as fractions of the full scale.
_FULL_SCALES = (
    (-1.0, 1.0, 1 / 128),
    (0.0, 255.0, 1.0),
    (0.0, 1023.0, 4.0),
    (-32768.0, 32767.0, 256.0),
)


@dataclass(frozen=True)
class AudioStage(Frames, FeatureStage):
    """The features of a clip of sound for a classifier; it has the fields of `Frames`, too.

    Raises `InputError` if a number is out of its range.
    """

    kind: ClassVar[str] = "audio"
    does: ClassVar[str] = "computes energies of sound"
    smaller: ClassVar[tuple[str, ...]] = ("fewer bands in --features",)
    ARRAYS: ClassVar[tuple[str, ...]] = ("audio",)

    zero: float  # the raw sample for the byte 0
    step: float  # raw units per step, above 0
    # Not hashed, because they are not part of the arithmetic: the sampling rate, within `RATES`,
    # for which the bands were chosen, and the mean difference, in steps of a byte, above which a
    # clip begins.
    rate: float = field(default=DEFAULT_RATE, repr=False)
    onset: int = field(default=4, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (abs(self.zero) <= FLOAT32_MAX and 0 < self.step <= FLOAT32_MAX):
            raise InputError(
                f"the sound has the zero point {self.zero:g} and the step {self.step:g}, but both "
                f"must be at most {FLOAT32_MAX:.2g}, and the step above 0; train the model again"
            )
        check_rate(self.rate)
        check_onset(self.onset)

    @classmethod
    def fitted(
        cls, bands: int, frames: int, X: NDArray[Any], rate: float = DEFAULT_RATE, onset: int = 4
    ) -> Self:
        """Return the stage with bands spaced by the mel scale, fitted to the full scale of clips.

        - `X` (n, samples), n >= 1: raw clips, finite: bytes, counts 0..1023 of an ADC, 16-bit
          integers, or -1..1; for others, the full scale is the range of samples.

        Raises `InputError` if the samples do not fill whole frames, or a number is out of its
        range.
        """
        samples = math.prod(X.shape[1:])
        if not 1 <= frames <= samples or samples % frames:
            raise InputError(
                f"clips of {samples:,} samples cannot be divided into {frames} equal frames; "
                "choose another number of frames, or cut clips of another length"
            )
        check_rate(rate)
        length = samples // frames
        zero, step = full_scale(float(X.min()), float(X.max()))
        return cls(mel_bands(bands, rate), frames, length, zero, step, float(rate), onset)

    @property
    def scale(self) -> InputQuantizer:
        """The conversion of samples to bytes."""
        return InputQuantizer(np.array([self.zero]), np.array([self.step]), BYTE_MAXIMUM)

    @property
    def whole_maximum(self) -> int:
        """The largest feature."""
        return FEATURE_MAXIMUM

    @property
    def signal(self) -> Signal:
        """A clip."""
        return Signal(self.n_features, 1, self.rate, from_onset=True)

    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the features (n, D) of raw clips (n, N)."""
        return self.of_bytes(self.to_bytes(X))

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerAudio]:
        """Return the stage for the features, which a classifier takes unchanged."""
        same = not inputs.zero.any() and bool((inputs.step == 1).all())
        fits = same and inputs.maximum == FEATURE_MAXIMUM
        what = f"a classifier that rescales energies of sound of 0 to {FEATURE_MAXIMUM}"
        check_holds(fits, what, "classifiers that take them unchanged")
        return (IntegerAudio(self, self.onset),)

    def to_arrays(self) -> Arrays:
        """Return the bytes of all fields, as JSON."""
        declared = asdict(self) | {"bands": [list(astuple(band)) for band in self.bands]}
        text = json.dumps(declared, sort_keys=True, allow_nan=False)
        return {"audio": np.frombuffer(text.encode(), dtype=np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage of a model file's arrays, or None."""
        if "audio" not in arrays:
            return None
        declared = parsed_json(arrays["audio"], "audio")
        wanted = {"bands": list, "frames": int, "length": int, "zero": float, "step": float}
        wanted |= {"rate": float, "onset": int}
        usable = (
            isinstance(declared, dict)
            and {name: type(value) for name, value in declared.items()} == wanted
            and all(
                isinstance(band, list) and [type(number) for number in band] == _BAND
                for band in declared["bands"]
            )
        )
        if not usable:
            raise InputError("array 'audio' does not declare bands of sound; train the model again")
        bands = tuple(BandPass(*band) for band in declared.pop("bands"))
        return cls(bands, **declared)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (samples of one channel)
        """Return the frames and the bands' centres."""
        return {
            "features": f"audio:{len(self.bands)}x{self.frames}",
            "frames": self.frames,
            "frame_samples": self.length,
            "band_hz": [round(band.centre(self.rate), 1) for band in self.bands],
            "sample_rate": self.rate,
            "onset": self.onset,
        }

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002
        """Return the size of clips, and the bands."""
        centres = [band.centre(self.rate) for band in self.bands]
        frames = f"{self.frames} frames of {self.length} samples at {self.rate:g} Hz"
        bands = f"{len(centres)} bands centred at {min(centres):.0f} to {max(centres):.0f} Hz"
        return (
            ("samples", f"{self.n_features:,}: {frames}"),
            ("features D", f"{self.n_outputs:,}: {bands} in each frame"),
        )


_BAND = [int, int, int, bool]


def check_rate(rate: float) -> None:
    """Refuse rates for which no bands can be chosen."""
    slowest, fastest = RATES
    if not slowest <= rate <= fastest:
        raise InputError(
            f"the sampling rate of the sound is {rate:,g} Hz, but the limits are {slowest:,g} and "
            f"{fastest:,g} Hz; record the sound at 8,000 Hz, or resample it"
        )


def full_scale(least: float, most: float) -> tuple[float, float]:
    """Return zero and step for samples in a range; for integers, zero is a multiple of the step."""
    for low, high, step in _FULL_SCALES:
        if low <= least <= most <= high:
            return low + max(0.0, step - 1) / 2, step
    extent = most - least
    return least, extent / BYTE_MAXIMUM if extent > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Clips(SegmentDetector):
    """The clips of a recording, which begin where a sound reaches a level; see `onset`."""

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

    def moves(self, first: int, end: int) -> bool:  # noqa: ARG002  (silence is no raster of clips)
        """Whether a run is cut at onsets instead of a regular grid: always."""
        return True

    def begins(self, first: int, end: int) -> Iterator[int]:
        """Yield where clips begin in the part first..end - 1 of a run."""
        for begin in onsets_of(self.heard[first:end], self.window, self.onset):
            yield first + begin
