"""Energies of sound requested as features: audio:12x20."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.sound.features.audio.clips import DEFAULT_RATE, fitted_to
from protonn_edge.extensions.sound.features.audio.integers import IntegerAudio
from protonn_edge.extensions.sound.features.audio.train.augmentation import SoundAugmentation
from protonn_edge.extensions.sound.features.audio.train.movement import SoundMovement
from protonn_edge.learn import features
from protonn_edge.learn.augmentation import SignalMovement
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.features import Features
from protonn_edge.model.limits import ONSETS
from protonn_edge.model.shapes import Shape
from protonn_edge.system.errors import InputError

_ONSET = "onset:"
_DEFAULT_ONSET = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class AudioRequest(features.FeatureRequest):
    """Energies of sound in bands and frames, `sizes`; clips may begin at a level."""

    kind: ClassVar[str] = IntegerAudio.kind
    word: ClassVar[str] = "audio"
    form: ClassVar[str] = "audio:12x20"
    of_samples: ClassVar[bool] = True
    movement: ClassVar[SignalMovement] = SoundMovement(
        0.025, speed=1.35, gain=1.5, noise=0.0, equalizer=4.0
    )
    sizes: Shape
    onset: int | None = None

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse clips of several channels."""
        shape = case.settings.window_shape
        if shape is not None and shape[1] > 1:
            case.refuse(
                f"energies of sound need clips of one channel, but --window is {shape[0]}x"
                f"{shape[1]}, with several channels; give clips of one channel"
            )

    @classmethod
    def read(cls, terms: Sequence[str], **image: object) -> Self:
        """Read the sizes, and the level at which clips begin, from terms."""
        onsets = [term for term in terms[1:] if term.startswith(_ONSET)][:1]
        term = features.only_term([each for each in terms if each not in onsets])
        sizes = features.two_of(term, cls.form)
        return cls(sizes=sizes, onset=_level(onsets[0]) if onsets else None, **image)

    @property
    def level(self) -> int:
        """The level at which clips begin."""
        return self.onset or _DEFAULT_ONSET

    def augmentation(self, share: float) -> SoundAugmentation:
        """Return what moves the energies of sounds."""
        bands, frames = self.sizes
        return SoundAugmentation((frames, bands), share)

    def notices(self, dataset: Dataset) -> Iterator[Notice]:
        """Yield the level that is assumed: clips that were not cut there differ from a board's."""
        if self.onset is None and dataset.onset is None:
            yield Notice(
                "onset",
                "the data does not state its onset level, so the board starts clips at a level of "
                f"{self.level}, as 'windows --onset {self.level}' does",
            )

    def text_for(self, text: str, dataset: Dataset) -> str:
        """Return the text with the level at which the clips of the data begin."""
        onset = dataset.onset
        if onset is None:
            return text
        if self.onset not in (None, onset):
            raise InputError(
                f"--features has onset:{self.onset}, but the clips in the data begin at a level of "
                f"{onset}; omit onset:{self.onset}, or cut the clips with 'windows --onset "
                f"{self.onset}'"
            )
        return text if self.onset else f"{text},{_ONSET}{onset}"

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return energies of sound."""
        rate = DEFAULT_RATE if settings.sample_rate is None else float(settings.sample_rate)
        return fitted_to(given.points, *self.sizes, rate, self.level)


def _level(term: str) -> int:
    text, (low, high) = term.removeprefix(_ONSET).strip(), ONSETS
    if not text.isdecimal() or not low <= int(text[:9]) <= high:
        raise features.unread(term, f"must have a level of {low} to {high}, such as onset:6")
    return int(text)
