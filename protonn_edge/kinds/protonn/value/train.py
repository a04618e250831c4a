"""ProtoNN as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.train.fitting import learned_head
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.policy.value.train import DeviceRegressor

_NOISES = ("auto", 0.25, 0.5)  # deviations of the noise on normalized features that are tried
_FEW_POINTS = 4_000  # with more points, noise matters little
_HELD_OUT = 5  # one of this many points is held out to choose the noise


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNRegressor(DeviceRegressor, ProtoNNClassifier):
    """A number from prototypes in a learned, low-dimensional space.

    The prediction is ``offset + scale * sum_j Z[0, j] exp(-gamma^2 ||B[:, j] - W x||^2)``: a
    network of radial basis functions whose inputs are projected by W. All matrices are learned
    together, as in `ProtoNNClassifier`, with the squared error as loss. Of few points, a fifth is
    held out first, to choose the noise of the training.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> regressor = ProtoNNRegressor(n_projections=6, n_prototypes=24, random_state=0)
    >>> regressor = regressor.fit(X[:400], y[:400])
    >>> bool(regressor.score(X[400:], y[400:]) > 0.8)
    True
    """

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
