"""The training of a converted network on labelled points, in the integers of the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.points.division import held_out_rows
from protonn_edge.features.convolution.train.learning import Images, Schedule, Training
from protonn_edge.features.convolution.train.network import Network, innermost
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

_MOST_TUNED = 20_000  # number of labelled points to train on, or to choose the best pass by
_TUNED_PASSES = 1 / 3  # passes over them per requested epoch, at each of the rates
_TUNED_RATES = (0.01, 0.03)
_HELD_OUT = 0.2  # the share of labelled points that choose the rate and the pass


@dataclass(frozen=True, eq=False)
class Tuning:
    """Labelled points, and the training on them."""

    X: Float32  # (n, D)
    y: Indices  # (n,)
    tested: NDArray[np.bool_]  # (n,): which points only choose the rate and the pass
    passes: int
    seed: int

    @classmethod
    def of(cls, X: Float32, y: Indices, epochs: int, seed: int) -> Self:
        """Return the tuning on points X with classes y; refuses too few points."""
        rows = slice(None, None, -(-len(X) // _MOST_TUNED))
        X, y = X[rows], y[rows]
        if np.bincount(y).max() < 3 or epochs == 0:
            raise InputError(
                f"fine-tuning has {len(y):,} labelled points and {epochs:,} epochs, but needs at "
                "least three points of one class, and one epoch; give more points or epochs, or "
                "omit fine-tuning"
            )
        tested = held_out_rows(y, _HELD_OUT, seed)
        return cls(X, y, tested, max(1, round(epochs * _TUNED_PASSES)), seed)

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of points that are trained on, and of those tested."""
        tested = int(self.tested.sum())
        return {"points": len(self.y) - tested, "tested": tested}

    def right(self, chain: IntegerChain) -> float:
        """Return the share of tested points that a device classifies correctly."""
        return share_right(chain.predict(chain.quantize(self.X[self.tested])), self.y[self.tested])

    def train(
        self,
        network: Network,
        earlier: Sequence[Float32],
        n_classes: int,
        given: Callable[[Float32], Array],
    ) -> None:
        """Train a rounded network in place, and keep the pass with the most correct test points.

        It starts with its own parameters or with `earlier` ones, whichever are better by this
        measure. `given` returns its inputs (n, h, w, channels).
        """
        shown, tested, y = self.X[~self.tested], self.X[self.tested], self.y[self.tested]
        inputs = innermost(given(tested))
        best, most = [each.copy() for each in network.parameters], -1.0

        def keep(*_: object) -> None:
            nonlocal best, most
            scores = network.head.scores(network.features(inputs))
            if (now := share_right(scores.argmax(axis=1), y)) > most:
                best, most = [each.copy() for each in network.parameters], now

        keep()
        _move(network, earlier)
        keep()
        start = best
        Y = np.eye(n_classes, dtype=np.float32)[self.y[~self.tested]]
        images = Images(shown, Y, None, (1, 1), given)
        schedule = Schedule(self.passes, moved_share=0.0)
        for rate in _TUNED_RATES:
            _move(network, start)
            generator = np.random.default_rng(self.seed)
            Training(images, schedule, generator, keep).fine_tune(network, rate)
        _move(network, best)


def _move(network: Network, arrays: Sequence[Float32]) -> None:
    for array, values in zip(network.parameters, arrays, strict=True):
        array[...] = values
