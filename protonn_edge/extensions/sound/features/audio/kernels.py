"""The kernel for sound: band passes for each sample, logarithms at the end of a frame.

Assembly computes a sample's bands one after the other, in constant time.

Coefficients are immediate operands, which saves a fifth of the cycles of a loop that loads them: a
sample with 12 bands must be finished before the next byte of a serial line arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.extensions.sound.features.audio.frames import (
    FEATURE_MAXIMUM,
    OCTAVE,
    STEPS,
    BandPass,
)
from protonn_edge.extensions.sound.features.audio.integers import IntegerAudio

# bytes of a band in SRAM: its last y, the one before, and its energy
BAND_BYTES = compiled.bytes_of("int16_t", "int16_t", "uint16_t")
_REACH = 63  # the largest displacement from Z
_DIFFERENCE, _MIRRORED = ("r24", "r25"), ("r14", "r15")


def _band(band: BandPass, at: int) -> str:
    low, high = _MIRRORED if band.mirrored else _DIFFERENCE
    return f"""
            ldd  r18, Z+{at}    ; the band's last y
            ldd  r19, Z+{at + 1}
            ldi  r20, {band.turn}
            mul  r18, r20
            movw r26, r0
            clr  r23
            mulsu r19, r20
            add  r27, r0
            adc  r23, r1
            ldd  r21, Z+{at + 2}    ; the y before
            std  Z+{at + 2}, r18
            ldi  r20, {band.decay}
            mul  r21, r20
            sub  r26, r0
            sbc  r27, r1
            sbci r23, 0
            ldd  r21, Z+{at + 3}
            std  Z+{at + 3}, r19
            mulsu r21, r20
            sub  r27, r0
            sbc  r23, r1
            lsl  r26
            rol  r27
            rol  r23
            ldi  r20, {band.gain}
            mul  {low}, r20
            add  r27, r0
            adc  r23, r1
            sbrc {high}, 7
            sub  r23, r20
            std  Z+{at}, r27
            std  Z+{at + 1}, r23
            sbrc r23, 7
            com  r23
            ldd  r18, Z+{at + 4}    ; the energy
            add  r18, r23
            std  Z+{at + 4}, r18
            ldd  r18, Z+{at + 5}
            adc  r18, r22
            std  Z+{at + 5}, r18
    """


_MEAN_OCTAVES = 4  # per logarithm, for sound that is sometimes loud

# Variables besides bands and features: samples pushed, samples left in the frame, the next feature,
# the last two samples; to detect a sound, its level, its last two samples, and whether the clip has
# begun.
_STATE_BYTES = compiled.bytes_of(
    *("uint16_t", "uint16_t", "uint16_t", "uint8_t", "uint8_t"),
    *("uint16_t", "uint8_t", "uint8_t", "uint8_t"),
)


_BAND_CYCLES = 65  # of a sample


@dataclass(frozen=True, eq=False)
class AudioKernel(Kernel):
    """Energies of the current frame, and features of completed ones."""

    chunk: ClassVar[int] = 16
    holds_inputs: ClassVar[bool] = False  # no samples are kept
    octave: ClassVar[int] = OCTAVE
    steps: ClassVar[tuple[int, ...]] = STEPS
    maximum: ClassVar[int] = FEATURE_MAXIMUM
    level_shift: ClassVar[int] = IntegerAudio.level_shift
    level_maximum: ClassVar[int] = (255 << level_shift) + (1 << level_shift) - 1
    band_bytes: ClassVar[int] = BAND_BYTES

    stage: IntegerAudio
    name: str = "energies"

    @cached_property
    def band_loop(self) -> Listing:
        """The instructions that process a sample in all bands.

        Z is at their variables, r25:r24 is the difference of the samples, r15:r14 the mirrored
        bands' difference, and r22 is 0.
        """
        lines, place, bands = [], 0, self.stage.clip.bands
        for number, band in enumerate(bands):
            lines.append(f"band{number}:")
            if place + BAND_BYTES - 1 > _REACH:
                lines.append(f"adiw r30, {place}")
                place = 0
            lines.append(_band(band, place))
            place += BAND_BYTES
        return Listing("\n".join([*lines, f"band{len(bands)}:"]))

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The instructions for a sample."""
        return (self.band_loop,)

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost; the work is the same for all samples."""
        assert feed is not None
        clip = self.stage.clip
        return self._with_code(
            self._cycles(feed),
            len(STEPS),
            state=_STATE_BYTES + BAND_BYTES * len(clip.bands) + clip.n_outputs,
        )

    def _cycles(self, feed: Feed) -> float:
        """Return about the cycles of a clip.

        A call takes a sample, and one its bands; one takes a logarithm, and one stores it.
        """
        clip, bands = self.stage.clip, len(self.stage.clip.bands)
        functions = 2 * (feed.calls + clip.n_features + clip.n_outputs) + 1
        turns = clip.n_outputs * _MEAN_OCTAVES + BAND_BYTES * bands
        loops = _BAND_CYCLES * bands * clip.n_features
        return compiled.calls(functions, self.core) + compiled.TURN_CYCLES * turns + loops

    @property
    def halvings(self) -> int:
        """The maximum number of times that a sum is halved for its logarithm."""
        return (self.energy_maximum + self.stage.clip.quiet).bit_length() - 6

    @property
    def most(self) -> int:
        """The largest value of a band."""
        return int(max(band.most for band in self.stage.clip.bands))

    @property
    def energy_maximum(self) -> int:
        """The largest energy of a frame."""
        return 127 * self.stage.clip.length


kernels = AudioKernel.of
