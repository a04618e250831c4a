"""Energies of sound as features ask for them: "audio:12x20", or "audio:12x20,onset:6"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.audio.onset import THRESHOLDS
from protonn_edge.features.audio.stage import DEFAULT_RATE, AudioStage
from protonn_edge.training.features import FeatureRequest, only_term, two_of, unread
from protonn_edge.training.parameters import FeatureParameters
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import Refusal, but, models_all_at_once, unclipped

_ONSET = "onset:"
_DEFAULT_ONSET = 4

_HEARD = Refusal(lambda case: AudioStage.kind in case.kinds, "energies of sound are taken")


@dataclass(frozen=True, kw_only=True, eq=False)
class AudioRequest(FeatureRequest):
    """The energies of sound in bands and frames, `sizes`; clips begin at a level, if it is said."""

    kind: ClassVar[str] = AudioStage.kind
    word: ClassVar[str] = "audio"
    form: ClassVar[str] = "audio:12x20"
    of_samples: ClassVar[bool] = True
    refusals: ClassVar[tuple[Refusal, ...]] = (
        models_all_at_once(AudioStage.kind, "clips of sound"),
        Refusal(
            lambda case: (
                case.asked is not None
                and case.asked.kind == AudioStage.kind
                and case.settings.window_shape is not None
                and case.settings.window_shape[1] > 1
            ),
            "energies of sound are to be taken, but {window_shape} is {settings.window_shape}, "
            "with several channels; give clips of one channel",
        ),
        *but(
            lambda case: case.settings.dead_zone > 0,
            "{dead_zone} is {settings.dead_zone:g}, but <but>, which are read as they are; leave "
            "{dead_zone} out",
            _HEARD,
        ),
        *unclipped(_HEARD, why=", which have a range of their own"),
    )

    sizes: Shape
    onset: int | None = None

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return what the terms ask for: sizes, and where clips begin."""
        onsets = [term for term in terms[1:] if term.startswith(_ONSET)][:1]
        term = only_term([each for each in terms if each not in onsets])
        sizes = two_of(term, cls.form)
        return cls(sizes=sizes, onset=_level(onsets[0]) if onsets else None, **image)

    @property
    def level(self) -> int:
        """The level at which clips begin."""
        return self.onset or _DEFAULT_ONSET

    def stage_for(
        self, settings: FeatureParameters, points: Float32, _: Float32 | None
    ) -> FeatureStage:
        """Return energies of sound."""
        rate = DEFAULT_RATE if settings.sample_rate is None else float(settings.sample_rate)
        return AudioStage.fitted(*self.sizes, points, rate, self.level)


def with_onset(text: str, level: int) -> str:
    """Return the text of features of sound with the level at which clips begin."""
    return f"{text},{_ONSET}{level}"


def _level(term: str) -> int:
    text, (low, high) = term.removeprefix(_ONSET).strip(), THRESHOLDS
    if not text.isdecimal() or not low <= int(text[:9]) <= high:
        raise unread(term, f"has to be a level of {low} to {high}, such as onset:6")
    return int(text)
