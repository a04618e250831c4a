"""What learns a ProtoNN that predicts a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.kinds.protonn.train.fitting import learned_head
from protonn_edge.kinds.protonn.train.learner import ProtoNNLearner
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.policy.value.train import PredictsNumbers

_NOISES = ("auto", 0.25, 0.5)  # deviations of the noise on normalized features that are tried
_FEW_POINTS = 4_000  # with more points, noise matters little
_HELD_OUT = 5  # one of this many points is held out to choose the noise


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNValueLearner(PredictsNumbers, ProtoNNLearner):
    """Learns a ProtoNN of a number; `ProtoNNRegressor` describes it."""

    def learn(self, data: TrainingSet) -> Learned:
        """Learn with the noise that predicts held-out points best, unless the noise is given.

        Noisy labels of few points ask for much more noise than classes do.
        """
        few = 4 * _HELD_OUT <= len(data) <= _FEW_POINTS and data.unmoved is None
        if self.input_noise != "auto" or not few:
            return learned_head(self, data)
        held_out = np.random.default_rng(data.seed).permutation(len(data)) % _HELD_OUT == 0
        kept, rest = data.part(~held_out), data.points.part(held_out)
        qualities = []
        for noise in _NOISES:
            learned = learned_head(self.frozen(input_noise=noise, callback=None), kept)
            qualities.append(data.labels.quality(learned.head.scores(rest.X), rest.y))
        best = _NOISES[int(np.argmax(qualities))]
        return learned_head(self.frozen(input_noise=best), data)

    @property
    def learns_logits(self) -> bool:
        """Whether the loss makes the scores logits: not the squared error."""
        return False
