"""Training by calls of `partial_fit`: the state kept between calls.

The first call determines the normalization, the initial values and the RBF width; classes without
points in that call start with zeros in the label vectors and are learned when points arrive. Every
call passes over its points once, with Adam's moments from earlier calls. Because the end is not
known in advance, steps shrink as ``1 / sqrt(1 + t / 1000)``, and sparse matrices are thresholded at
every step but never frozen. The loss is that of the float model, so integer accuracy may be
slightly lower than after `fit`.
"""

from __future__ import annotations

import copy
import hashlib
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.kinds.protonn.train.fitting import ProtoNNTraining
from protonn_edge.kinds.protonn.train.joint import step_factors
from protonn_edge.training import progress
from protonn_edge.training.loop import WARM_UP_STEPS, Adam, Sparsifier, noisy
from protonn_edge.training.objective import LOSSES, Parameters, objective_gradient
from protonn_edge.training.points import Batch, Float32, Indices, TrainingSet
from protonn_edge.training.preparation import PreparedPoints

_STEPS_TO_SHRINK = 1_000.0
# progress at which shares are reached but entries may still change; see `Sparsifier`
_THINNED = 0.5
_MANY = 2**31


class OnlineTraining:
    """The state of online training.

    - `points` (n, D): raw features of the first call.
    - `y` (n,): class indices; some classes may be missing.
    - `weights` (n,): weight of each point, above 0.
    - `seed`: seed of all random choices.
    - `model`: the model to continue from, after `epochs` passes over `n_seen` points.
    """

    def __init__(
        self,
        settings: ProtoNNParameters,
        points: Float32,
        y: Indices,
        weights: NDArray[np.float64] | None,
        *,
        n_classes: int,
        seed: int,
        model: Model | None = None,
        n_seen: int = 0,
        epochs: int = 0,
    ) -> None:
        self.n_seen, self._n_classes = n_seen, n_classes
        self.history: list[progress.EpochReport] = []  # one report per call
        self.restarts: list[progress.Restart] = []  # repeated calls, with smaller steps
        self._rate = settings.learning_rate
        self._loss = LOSSES[settings.loss]
        self._generator = np.random.default_rng(seed)
        present, among = np.unique(y, return_inverse=True)
        weights32 = None if weights is None else weights.astype(np.float32)
        prepared = PreparedPoints(
            settings, points, among, weights32, seed=seed, n_classes=n_classes
        )
        prepared.n_rows = _MANY  # more points will come
        # Prepared from the first call's points; the digest covers all calls.
        self.training = ProtoNNTraining(settings, prepared)
        start = self.training.start()
        settled = self.training.settle(prepared.normalized(points), self._generator)
        self._batch_size = int(settled.batch_size)
        self._steps_before = epochs * -(-n_seen // self._batch_size)
        if len(start.labels) < n_classes:
            labels = np.zeros((n_classes, start.labels.shape[1]), dtype=np.float32)
            labels[present] = start.labels
            start = replace(start, labels=labels)
        parameters = start
        self._adam = Adam(parameters, step_factors(parameters, settings.trained))
        self._sparsifier = Sparsifier(settings.sparsity)
        self._background = prepared.inputs.background
        if model is not None:
            prepared.running.follow(model.inputs, n_seen)

    def learn(
        self, points: Float32, y: Indices, weights: NDArray[np.float64] | None
    ) -> progress.EpochReport:
        """Pass over raw points once; on divergence, repeat up to three times with smaller steps.

        If points are refused, the state remains that before the call.
        """
        prepared = self.training.prepared
        inputs = prepared.normalized(points)
        state = self._rate, self.n_seen, prepared.data_sha256
        running = copy.deepcopy(prepared.running)
        self._take_in(points, y, weights)
        Y = np.eye(self._n_classes, dtype=np.float32)[y]
        counted = None if weights is None else (weights / weights.mean()).astype(np.float32)
        data = TrainingSet(inputs, y, Y, counted)
        call = len(self.history) + 1
        for _ in range(progress.ATTEMPTS):
            before = copy.deepcopy(self._adam)
            try:
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    objective = self._pass(data)
                    accuracy, _ = progress.accuracies(self._adam.parameters, data)
            except progress.DivergedError as error:
                self._adam = before
                lowered = self._rate / progress.BACK_OFF
                self.restarts.append(progress.Restart(self._rate, call, str(error), lowered))
                self._rate = lowered
                continue
            self.history.append(progress.EpochReport(call, call, objective, accuracy))
            return self.history[-1]
        lowest, prepared.running = progress.BACK_OFF * self._rate, running
        self._rate, self.n_seen, prepared.data_sha256 = state
        raise InputError(
            f"partial_fit diverges at a learning rate of {lowest:.2g} "
            f"({self.restarts[-1].reason}); try a smaller learning rate, or pass more "
            "representative points in the first call"
        )

    def trained(self) -> progress.Trained:
        """Return the current model, with input statistics of all points."""
        prepared = self.training.prepared
        prepared.inputs = prepared.running.inputs(self._background)
        return progress.Trained(
            self._adam.parameters, self._rate, tuple(self.history), tuple(self.restarts)
        )

    def _pass(self, data: TrainingSet) -> float:
        deviation = self.training.input_noise
        noise = np.float32(deviation) * self.training.prepared.running.changing
        parameters = self._adam.parameters

        def gradient(batch: Batch) -> tuple[float, Parameters]:
            points = noisy(batch.X, noise, self._generator) if deviation > 0 else batch.X
            return objective_gradient(parameters, points, batch.Y, self._loss, batch.weights)

        return self._adam.epoch(
            data.batches(self._batch_size, self._generator),
            gradient,
            self._rate_at,
            lambda: self._sparsifier.apply(parameters, _THINNED),
        )

    def _rate_at(self, step: int) -> float:
        """Return the learning rate: linear warm-up, then decreasing."""
        step += self._steps_before
        warm = min(1.0, step / WARM_UP_STEPS)
        return self._rate * warm / math.sqrt(1.0 + step / _STEPS_TO_SHRINK)

    def _take_in(self, points: Float32, y: Indices, weights: NDArray[np.float64] | None) -> None:
        """Add the points to the statistics and the digest of all data."""
        prepared = self.training.prepared
        prepared.running.add(points, weights)
        self.n_seen += len(points)
        digest = hashlib.sha256(prepared.data_sha256.encode())
        digest.update(np.ascontiguousarray(points, dtype="<f4").tobytes())
        digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
        if weights is not None:
            digest.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
        prepared.data_sha256 = digest.hexdigest()
