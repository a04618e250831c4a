"""The parameters of energies of sound: features of windows whose list begins with ``audio:``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.errors import InputError, shortened
from protonn_edge.features.audio.onset import THRESHOLDS
from protonn_edge.features.audio.stage import DEFAULT_RATE, AudioStage
from protonn_edge.features.window_features.train import KIND as WINDOWS
from protonn_edge.features.window_features.train import WindowFeatureParameters
from protonn_edge.training.parameters import Number, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import Refusal, but, models_all_at_once

KIND = AudioStage.kind

_FORM = re.compile(r"\s*audio\s*:\s*(\d{1,4})\s*x\s*(\d{1,4})\s*")

_HEARD = Refusal(lambda case: KIND in case.kinds, "energies of sound are taken")


@dataclass(kw_only=True, eq=False, repr=False)
class AudioParameters(WindowFeatureParameters):
    """Parameters of energies of sound, beside those of windows.

    With ``features="audio:12x20"`` a point is a clip of sound, of which the energies of 12 bands in
    20 frames are taken: see `stages.audio`. `sample_rate` is then 8,000 unless it is given.

    Parameters
    ----------
    onset : int, default=4
        The mean difference of samples, in steps of a byte, above which a clip of sound begins: for
        the device, which hears without end.
    """

    onset: int = parameter(
        4,
        Number(int, *THRESHOLDS),
        help="Loudness where a clip begins, in steps of a byte.",
        option="--onset",
    )

    refusals: ClassVar[tuple[Refusal, ...]] = (
        models_all_at_once(KIND, "clips of sound"),
        Refusal(
            lambda case: (
                KIND in case.settings.kinds_asked
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
        *but(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            "{clip} is {settings.clip:g}, but <but>, which have a range of their own; leave {clip} "
            "out",
            _HEARD,
        ),
        *but(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; take another one",
            _HEARD,
        ),
    )

    @property
    def kinds_asked(self) -> tuple[str, ...]:
        """The kinds of features that the parameters ask for."""
        heard = self.features is not None and self.features.lstrip().startswith("audio")
        return tuple(KIND if heard and kind == WINDOWS else kind for kind in super().kinds_asked)

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return energies of sound where they are asked for."""
        if KIND not in self.kinds_asked:
            return super().feature_stage_for(points, weights)
        found = _FORM.fullmatch(self.features or "")
        if found is None:
            raise InputError(
                f"{shortened(repr(self.features))} does not give the bands and frames of sound; "
                "give, for example, audio:12x20"
            )
        bands, frames = int(found[1]), int(found[2])
        rate = DEFAULT_RATE if self.sample_rate is None else float(self.sample_rate)
        return AudioStage.fitted(bands, frames, points, rate, self.onset)
