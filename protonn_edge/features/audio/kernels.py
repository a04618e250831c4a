"""The kernel of sound: band passes for each sample, and logarithms at the end of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.audio.frames import FEATURE_MAXIMUM, OCTAVE, STEPS
from protonn_edge.features.audio.integers import IntegerAudio
from protonn_edge.features.audio.loop import BAND_BYTES, all_bands, band_cycles
from protonn_edge.features.audio.onset import LEVEL_SHIFT
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.listing import Listing

# Compiled code around the bands, measured on the emulator (avr-gcc 5.4 at -O2): maximum and mean.
# Per sample, per call, per logarithm and per octave in it, and for the setup.
_SAMPLE_CYCLES, _MEAN_SAMPLE_CYCLES = 84, 75
_CALL_CYCLES, _MEAN_CALL_CYCLES = 80, 68
_LOGARITHM_CYCLES, _MEAN_LOGARITHM_CYCLES = 70, 64
_OCTAVE_CYCLES = 7
_MEAN_OCTAVES = 4  # per logarithm, for sound that is sometimes loud
_BEGIN_CYCLES, _BEGIN_BAND_CYCLES = 40, 20
_END_CYCLES = 20
_SAMPLE_CALLS = 2  # by the firmware, and of the bands' function

_CODE_BYTES = 420
_STREAMING_CODE_BYTES = 120

# Variables beside those of bands and features: samples pushed, those left of the frame, the next
# feature, the last two samples; and of the onset its level, its last two samples, and whether it
# has begun.
_STATE_BYTES = 8 + 5

# What the compiler's loop takes of what is in assembly, on a chip without a multiplier: two to
# eight bands took 11 to 14.5 times as long on the emulated ATtiny85.
_PORTABLE = 14.0


@dataclass(frozen=True, eq=False)
class AudioKernel(Kernel):
    """Energies of the current frame, and features of completed ones."""

    template: ClassVar[str] = "audio/audio.j2"
    chunk: ClassVar[int] = 16
    octave: ClassVar[int] = OCTAVE
    steps: ClassVar[tuple[int, ...]] = STEPS
    maximum: ClassVar[int] = FEATURE_MAXIMUM
    level_shift: ClassVar[int] = LEVEL_SHIFT
    level_maximum: ClassVar[int] = (255 << LEVEL_SHIFT) + (1 << LEVEL_SHIFT) - 1
    band_bytes: ClassVar[int] = BAND_BYTES

    stage: IntegerAudio
    core: Core
    name: str = "energies"

    @cached_property
    def band_loop(self) -> Listing:
        """What passes a sample through all bands."""
        return all_bands(self.stage.clip.bands)

    @property
    def feedings(self) -> tuple[bool, ...]:
        """No samples are kept; if cycles are only estimated, the sender must not rely on them."""
        return (False,) if self.core.multiplies else (True,)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (the work is the same whatever the samples are)
    ) -> Cost:
        """Return its cost."""
        assert feed is not None
        assert following is not None
        clip, push = self.stage.clip, self._push(following)
        tables = len(STEPS)
        code = _CODE_BYTES + self.band_loop.code_bytes + _STREAMING_CODE_BYTES * (not feed.whole)
        step = Step(
            self.kind,
            self.name,
            code + tables,
            self._cycles(feed, push, at_most=False) + following.whole,
            self._cycles(feed, push, at_most=True) + following.whole,
            clip.n_features * self._band_cycles,
        )
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=_STATE_BYTES + BAND_BYTES * len(clip.bands) + clip.n_outputs,
            push=push,
            begin=self._begin,
        )

    @property
    def _begin(self) -> int:
        return _BEGIN_CYCLES + _BEGIN_BAND_CYCLES * len(self.stage.clip.bands)

    @property
    def _band_cycles(self) -> int:
        """Cycles of the bands per sample."""
        return band_cycles(self.band_loop, len(self.stage.clip.bands))

    @property
    def _most_octaves(self) -> int:
        """The maximum number of halvings of a logarithm."""
        clip = self.stage.clip
        return (127 * clip.length + clip.quiet).bit_length() - 6

    def _sample(self, *, at_most: bool) -> int:
        """Return the cycles of a sample at which no band's frame ends."""
        around = _SAMPLE_CYCLES if at_most else _MEAN_SAMPLE_CYCLES
        return around + self.core.call_cycles + self._band_cycles

    def _logarithm(self, *, at_most: bool) -> int:
        """Return the additional cycles of a sample at which a band's frame ends."""
        around = _LOGARITHM_CYCLES if at_most else _MEAN_LOGARITHM_CYCLES
        return around + _OCTAVE_CYCLES * (self._most_octaves if at_most else _MEAN_OCTAVES)

    def _push(self, following: Push) -> Push:
        """Return bounds for a sample and for a call."""
        sample = self._sample(at_most=True) + self._logarithm(at_most=True)
        call = _CALL_CYCLES + _SAMPLE_CALLS * self.core.call_cycles
        return Push(sample, sample, call, call, following.more)

    def _cycles(self, feed: Feed, push: Push, *, at_most: bool) -> int:
        """Return the cycles of a clip."""
        clip = self.stage.clip
        calls = 1 if feed.whole else feed.calls(push, [push.value] * clip.n_features)
        call = _CALL_CYCLES if at_most else _MEAN_CALL_CYCLES
        call += _SAMPLE_CALLS * self.core.call_cycles
        samples = clip.n_features * self._sample(at_most=at_most)
        logarithms = clip.n_outputs * self._logarithm(at_most=at_most)
        return calls * call + samples + logarithms + self._begin + _END_CYCLES

    @property
    def most(self) -> int:
        """The largest value of a band."""
        return int(max(band.most for band in self.stage.clip.bands))

    @property
    def energy_maximum(self) -> int:
        """The largest energy of a frame."""
        return 127 * self.stage.clip.length

    @property
    def mirrored(self) -> int:
        """The number of bands of alternating samples."""
        return len(self.stage.clip.bands) - self.stage.clip.upright

    @property
    def onset(self) -> int:
        """The level at which a clip begins, in the units of levels."""
        return self.stage.onset << LEVEL_SHIFT


def kernels(stage: IntegerAudio, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (AudioKernel(stage, core),)
