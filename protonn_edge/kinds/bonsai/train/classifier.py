"""Bonsai and local deep kernels as scikit-learn estimators for devices."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chain.model import Model
from protonn_edge.kinds.bonsai.head import BonsaiHead, LocalDeepKernelHead, TreeHead
from protonn_edge.kinds.bonsai.parameters import BonsaiParameters, LocalDeepKernelParameters
from protonn_edge.kinds.bonsai.train.tree_gradient import TreeParameters
from protonn_edge.kinds.bonsai.train.tree_training import TreeSchedule, TreeTraining
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.normalization import neighbour_noise
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Learned
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, Searched, SearchTask

_BATCH_SIZE = 256


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(LocalDeepKernelParameters, DeviceClassifier):
    """What Bonsai and local deep kernels have in common."""

    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("a tree of gated sums")

    @property
    def _scores_are_logits(self) -> bool:
        return True

    def _projection(self, sparsity: tuple[float, float, float]) -> dict[str, Any]:
        """Return the settings of the projection, if any, with the shares of all matrices."""
        return {"n_projections": 0, "sparsity": (1.0, *sparsity)}

    @abstractmethod
    def _head(self, parameters: TreeParameters) -> TreeHead:
        """Return the trained tree."""

    def _train(self, prepared: PreparedPoints) -> Learned:
        data, noise, size = prepared.training_set(), self.input_noise, self.batch_size
        if noise == "auto":
            noise = neighbour_noise(data.X, prepared.generator, prepared.normalizer.kind)
        sparsity = self.sparsity_weights, self.sparsity_gates, self.sparsity_branches
        schedule = TreeSchedule(
            depth=self.depth,
            epochs=self.epochs,
            batch_size=_BATCH_SIZE if size == "auto" else int(size),
            learning_rate=float(self.learning_rate),
            input_noise=float(noise),
            **self._projection(sparsity),
        )
        training = TreeTraining(data, schedule, prepared.seed, self._head)
        history = tuple(training.train(self.callback))
        model = Model(head=self._head(training.parameters), **prepared.parts)
        return Learned(model, history, facts={"input_noise": float(noise)})


def _tree_of(parameters: TreeParameters) -> dict[str, Any]:
    _, weights, gates, branches = parameters
    return {"weights": weights, "gates": gates, "branches": branches}


@dataclass(kw_only=True, eq=False, repr=False)
class BonsaiClassifier(BonsaiParameters, TreeClassifier):
    """Bonsai: a shallow tree of gated sums behind a sparse projection (Kumar et al., ICML 2017).

    The projection, the sums, their gates and the branches are learned together; see
    `protonn_edge.kinds.bonsai.head` for the formula.

    References
    ----------
    .. [1] A. Kumar, S. Goyal, M. Varma, "Resource-efficient Machine Learning in 2 KB RAM for the
       Internet of Things", ICML 2017.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.bonsai.train.classifier import BonsaiClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = BonsaiClassifier(depth=1, epochs=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.95)
    True
    """

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:
        """Return the search space: sizes, learning rate and features."""
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        widest = max(4, min(40, task.n_inputs))
        share = min(1.0, task.parameter_bytes / (2 * widest * task.n_inputs))
        begun = {"sparsity_projection": max(0.02, share), **features}
        return Searched(
            {
                "depth": Among((0, 1, 2, 3)),
                "n_projections": Between(3, widest),
                "sparsity_projection": Between(0.02, 1.0),
                "learning_rate": Between(3e-3, 0.1),
                **FEATURES_SEARCHED,
            },
            tuple(
                {"depth": depth, "n_projections": min(d, widest), "learning_rate": 0.02, **begun}
                for depth, d in ((1, 10), (2, 10), (1, 20), (0, 15))
            ),
            columns={"depth": ("depth",), "d": ("n_projections",)},
        )

    def _projection(self, sparsity: tuple[float, float, float]) -> dict[str, Any]:
        shares = (self.sparsity_projection, *sparsity)
        return {"n_projections": self.n_projections, "sparsity": shares}

    def _head(self, parameters: TreeParameters) -> TreeHead:
        return BonsaiHead(projection=parameters.projection, **_tree_of(parameters))


@dataclass(kw_only=True, eq=False, repr=False)
class LocalDeepKernelClassifier(TreeClassifier):
    """A local deep kernel: a shallow tree of gated sums of the inputs (Jose et al., ICML 2013).

    It is Bonsai without its projection; see `protonn_edge.kinds.bonsai.head` for the formula.

    References
    ----------
    .. [1] C. Jose, P. Goyal, P. Aggrwal, M. Varma, "Local Deep Kernel Learning for Efficient
       Non-linear SVM Prediction", ICML 2013.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.bonsai.train.classifier import LocalDeepKernelClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = LocalDeepKernelClassifier(depth=1, epochs=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.93)
    True
    """

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:  # noqa: ARG003
        """Return the search space: sizes, learning rate and features."""
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        return Searched(
            {
                "depth": Among((0, 1, 2, 3)),
                "sparsity_weights": Between(0.02, 1.0),
                "sparsity_gates": Between(0.02, 1.0),
                "learning_rate": Between(1e-3, 0.05),
                **FEATURES_SEARCHED,
            },
            tuple(
                {
                    "depth": depth,
                    "sparsity_weights": share,
                    "sparsity_gates": share,
                    "learning_rate": 0.01,
                    **features,
                }
                for depth, share in ((1, 1.0), (1, 0.2), (2, 0.2), (2, 0.05))
            ),
            columns={"depth": ("depth",)},
        )

    def _head(self, parameters: TreeParameters) -> TreeHead:
        return LocalDeepKernelHead(**_tree_of(parameters))
