"""Networks as a scikit-learn estimator for devices: a hidden layer or two, pruned to a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.model import Model
from protonn_edge.datasets.rows import dense_rows
from protonn_edge.errors import InputError
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.integers import MOST_UNITS
from protonn_edge.kinds.dense.parameters import DenseParameters
from protonn_edge.kinds.dense.train.network import Network, NetworkSchedule, minimize
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.normalization import neighbour_noise
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Learned
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, Searched, SearchTask

# Points a step, unless it is said: few points are better learned from in more steps.
_LARGEST_BATCH, _SMALLEST_BATCH, _STEPS_AN_EPOCH = 128, 16, 50


@dataclass(kw_only=True, eq=False, repr=False)
class DenseClassifier(DenseParameters, DeviceClassifier):
    """A network of one or two hidden layers with rectified units, pruned by magnitude.

    All weights are trained with Adam on the cross-entropy. Where they take more than
    `size_budget`, those that matter least are made 0, in rounds, each of which trains the others
    on (Han et al. 2016 [1]_). How much a weight matters is its magnitude times the deviation of
    what it is multiplied with.

    References
    ----------
    .. [1] S. Han, H. Mao and W. J. Dally, "Deep Compression", ICLR 2016.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.dense.train.classifier import DenseClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = DenseClassifier(hidden="16", size_budget=800, epochs=40, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.9)
    True
    """

    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("a dense classifier")

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:
        """Return the layers, the bytes, how it is trained, and what is done to the features."""
        most = max(500, task.parameter_bytes)
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        begun = {"learning_rate": 0.01, "epochs": 60, **features}
        starts = (("20", most), ("20", most // 4), ("40", most), ("40,20", most), ("10", most // 8))
        return Searched(
            {
                "hidden": Among(("5", "10", "20", "40", "80", "20,10", "40,20")),
                "size_budget": Between(most // 16, most),
                "learning_rate": Between(0.003, 0.03),
                "epochs": Among((30, 60, 120)),
                **FEATURES_SEARCHED,
            },
            tuple({"hidden": units, "size_budget": size, **begun} for units, size in starts),
            sketch={"epochs": 3},
            columns={"hidden": ("hidden",), "bytes": ("size_budget",)},
        )

    @property
    def _units(self) -> tuple[int, ...]:
        """Units of each hidden layer."""
        parts = self.hidden.split(",")
        numbers = [int(part) if part.strip().isdecimal() else 0 for part in parts]
        if len(numbers) > 2 or not all(1 <= number <= MOST_UNITS for number in numbers):
            raise InputError(
                f"hidden is {self.hidden[:40]!r}; it must be the units of one or two layers, each "
                f"1 to {MOST_UNITS}, such as 20 or 40,20"
            )
        return tuple(numbers)

    @property
    def _scores_are_logits(self) -> bool:
        return True

    def _train(self, prepared: PreparedPoints) -> Learned:
        data = prepared.training_set()
        outputs = 1 if prepared.n_classes == 2 else prepared.n_classes
        start = Network.random((data.X.shape[1], *self._units, outputs), prepared.generator)
        size = self.batch_size
        noise = self.input_noise
        if noise == "auto":
            noise = neighbour_noise(data.X, prepared.generator, prepared.normalizer.kind)
        schedule = NetworkSchedule(
            epochs=self.epochs,
            batch_size=_batch_size(len(data)) if size == "auto" else int(size),
            learning_rate=self.learning_rate,
            input_noise=float(noise),
            size_budget=self.size_budget,
        )
        trained = minimize(start, data, schedule, seed=prepared.seed, callback=self.callback)
        X = dense_rows(data.evaluated[0], slice(None))
        head = DenseHead.of(trained.network.weights, trained.network.biases, X)
        model = Model(head=head, **prepared.parts)
        facts = {"trainer": "adam"}
        return Learned(model, trained.history, trained.restarts, facts=facts)


def _batch_size(points: int) -> int:
    return min(_LARGEST_BATCH, max(_SMALLEST_BATCH, points // _STEPS_AN_EPOCH))
