"""ProtoNN as a scikit-learn estimator: nearest prototypes in a learned space."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.datasets.rows import Sparse
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import GAMMAS, PROJECTION_BITS, ProtoNNModel
from protonn_edge.kinds.protonn.train.alternating import STEP_SIZES
from protonn_edge.kinds.protonn.train.fitting import PROTOTYPES_PER_CLASS, ProtoNNTraining
from protonn_edge.kinds.protonn.train.online import OnlineTraining
from protonn_edge.kinds.protonn.train.search import protonn_search
from protonn_edge.system.threads import one_thread
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.compatibility import check_compatible, refusal_of
from protonn_edge.training.given_points import class_indices, classes_to_go_on, labelled_points
from protonn_edge.training.initialization import PROJECTIONS, PROTOTYPES
from protonn_edge.training.label_sets import are_label_sets
from protonn_edge.training.normalization import dense_unless_kept, normalized
from protonn_edge.training.objective import LABEL_RARITY, LOSSES, MATRICES
from protonn_edge.training.options import (
    AUTO,
    COUNT,
    MULTIPLE,
    PASSES,
    SHARE,
    TURNS,
    ByteCount,
    Choices,
    Counts,
    Subset,
    real,
)
from protonn_edge.training.points import Float32, Indices
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Learned, Trained
from protonn_edge.training.refusals import Case
from protonn_edge.training.searched import Searched, SearchTask
from protonn_edge.training.settings import ProtoNNSettings
from protonn_edge.training.stored_points import chunks_of, is_large
from protonn_edge.training.weighting import point_weights


def _learns_online(estimator: ProtoNNClassifier) -> bool:
    return estimator.optimizer == "joint"


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNClassifier(DeviceClassifier):
    """ProtoNN: nearest prototypes in a learned, low-dimensional space (Gupta et al., ICML 2017).

    The projection W, the prototypes B and their label vectors Z are learned together, each under a
    constraint on its number of non-zero entries. The score of class l is
    ``sum_j Z[l, j] exp(-gamma^2 ||B[:, j] - W x||^2)``.

    See `DeviceClassifier` for points and targets, attributes, and all parameters not listed here.

    Parameters
    ----------
    n_projections : int, default=10
        Dimension d of the projected space; limited to the number of features, or averages.
    projection_bits : {8, 4}, default=8
        Bits of a weight of W on the device. With 4, two weights share a byte, so the same flash
        holds twice as many, and large ones are clipped; `quantization_aware` training takes this
        into account.
    n_prototypes : int, default=None
        Number m of prototypes, initially shared evenly by the classes. None: see
        `prototypes_per_class`. With fewer prototypes than classes, one may represent several.
    prototypes_per_class : int, default=None
        Alternative to `n_prototypes`; give one of the two. None for both means 4 per class, or, for
        sets of labels, 2 per label and at most 200.
    budget : int, default=None
        Bytes that W, B and Z may take on the device; chooses the numbers of projections and
        prototypes by the rules in `protonn_edge.kinds.protonn.train.budget_rules`.
        `n_projections` is then ignored.
    sparsity_projection, sparsity_prototypes, sparsity_labels : float in (0, 1], default=1.0
        Largest share of non-zero entries of W, B and Z (lambda in the paper); 1 is dense.
    trained : tuple of {"W", "B", "Z"}, default=("W", "B", "Z")
        The matrices to train; the others keep their initial values, as in the paper's figure 5.
    optimizer : {"joint", "alternating"}, default="joint"
        "joint" trains all three matrices together with Adam; "alternating" is the paper's
        algorithm, which trains them in turn.
    loss : {"cross_entropy", "squared_error", "hinge", "neighbour_likelihood"}
        The loss to minimize. The squared error is the paper's; the cross-entropy of a softmax over
        the scores, or of a sigmoid for each label of a set (plus its Brier score), generalizes
        better, and makes scores logits; the hinge loss is one class against the rest. The
        likelihood of neighbours with `trained` ("B",) is stochastic neighbour compression.
    gamma_numerator : float, default=1.5
        The RBF's width starts at ``gamma = gamma_numerator / median distance``; the paper has
        2.5.
    epochs : int, default=200
        Passes of the joint optimizer over the training points.
    batch_size : int or "auto", default="auto"
        Points per step of the optimizer. "auto" is 256 for the joint optimizer; for the alternating
        one, all points if there are at most 10,000, else 1,024.
    learning_rate : float, default=0.01
        Largest step of the joint optimizer; reduced automatically if training diverges.
    input_noise : float or "auto", default="auto"
        Deviation of the Gaussian noise added to the normalized features while training. "auto" is a
        tenth of the median distance between neighbouring points, a thirtieth with "l2", which suits
        test points from the same source; for people, days or sensors that are not in the training
        data, try 0.3 to 0.5. The alternating optimizer adds none.
    quantization_aware : bool, default=True
        Whether the second half of the joint training minimizes the loss of the integer model: W, B,
        Z and the inputs rounded, the RBF read from its table. No effect if there is no integer
        model: for sets of labels, "l2", and more than 255 classes.
    iterations : int, default=20
        Alternating optimizer: number of passes over Z, B and W (T in the paper).
    pass_epochs : int, default=20
        Alternating optimizer: epochs of one pass (e in the paper).
    step_sizes : {"inverse_sqrt", "inverse"}, default="inverse_sqrt"
        Alternating optimizer: eta_0 / sqrt(t) with Nesterov's acceleration and tail averaging, as
        on the authors' poster, or eta_0 / t as in the paper.
    init_projection : {"lda", "gaussian", "pca", "nca", "identity", "sleec"} or array, default="lda"
        Initial W: linear discriminants, random numbers, principal directions, neighbourhood
        components (slower), no projection (d = D), embeddings of the label sets as in the paper for
        multi-label data, or a given matrix (d, D) for normalized features or averages. For sets of
        labels and sparse points, "lda" stands for "sleec".
    init_prototypes : {"per_class", "kmeans", "sample"}, default="per_class"
        Initial B and Z: k-means in each class, k-means over all points, or a sample of the points.
        For sets of labels the first means the second.
    gamma : float, default=None
        Initial RBF width, instead of `gamma_numerator`.
    initial_model : ProtoNNModel, default=None
        A model to continue from, with its normalizer, pooling and bits; sizes and initializations
        are then ignored.
    augment : bool, default=False
        Whether the joint optimizer slightly shifts, rotates, scales and distorts the images at
        random: useful for models that are large enough to fit the training points.
    moved_share : float, default=1.0
        The share of a step's images that `augment` changes. For gradient features, which differ
        between moved and original images, 0.5 is better.
    group_shift : float, default=1.5
        Joint: maximum random shift of points from their group towards another one, if `fit` is
        given groups, such as people: 1 reaches the other group, 2 goes as far again beyond it.
        Improves generalization to people, days or sensors that were not recorded; see
        `protonn_edge.kinds.protonn.train.group_shift`. No effect without groups, and in
        `partial_fit`.
    strangers : float, default=0.0
        Joint: synthetic points of no class per training point, from which the model learns to
        reject inputs unlike its classes; 0.5 is a good value for that. Give `image_shape` where
        points are images: see `protonn_edge.training.outlier_exposure`.
    one_class : bool, default=False
        Whether to train on normal points only: `fit` takes points of one class, or no targets at
        all, and `calibrate_rejection` chooses the distance from all prototypes beyond which a point
        is unknown. See `protonn_edge.training.one_class`.

    References
    ----------
    .. [1] C. Gupta et al., "ProtoNN: Compressed and Accurate kNN for Resource-scarce Devices",
       ICML 2017.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ProtoNNClassifier(n_projections=8, n_prototypes=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.96)
    True
    """

    n_projections: int = 10
    projection_bits: int = 8
    n_prototypes: int | None = None
    prototypes_per_class: int | None = None
    budget: int | None = None
    sparsity_projection: float = 1.0
    sparsity_prototypes: float = 1.0
    sparsity_labels: float = 1.0
    trained: tuple[str, ...] = MATRICES
    optimizer: str = "joint"
    loss: str = "cross_entropy"
    gamma_numerator: float = 1.5
    epochs: int = 200
    batch_size: int | str = "auto"
    learning_rate: float = 0.01
    input_noise: float | str = "auto"
    quantization_aware: bool = True
    iterations: int = 20
    pass_epochs: int = 20
    step_sizes: str = "inverse_sqrt"
    init_projection: str | ArrayLike = "lda"
    init_prototypes: str = "per_class"
    gamma: float | None = None
    initial_model: ProtoNNModel | None = None
    augment: bool = False
    moved_share: float = 1.0
    group_shift: float = 1.5
    strangers: float = 0.0
    one_class: bool = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_projections": [COUNT],
        "projection_bits": [Counts(PROJECTION_BITS)],
        "n_prototypes": [COUNT, None],
        "prototypes_per_class": [COUNT, None],
        "budget": [ByteCount(), None],
        "sparsity_projection": [SHARE],
        "sparsity_prototypes": [SHARE],
        "sparsity_labels": [SHARE],
        "trained": [Subset(MATRICES)],
        "optimizer": [Choices(["joint", "alternating"])],
        "loss": [Choices(LOSSES)],
        "gamma_numerator": [real(1e-6, 1e6)],
        "epochs": [PASSES],
        "batch_size": [COUNT, AUTO],
        "learning_rate": [real(1e-9, 1e9)],
        "input_noise": [real(0, 1e6), AUTO],
        "quantization_aware": ["boolean"],
        "iterations": [TURNS],
        "pass_epochs": [TURNS],
        "step_sizes": [Choices(STEP_SIZES)],
        "init_projection": [Choices(PROJECTIONS), "array-like"],
        "init_prototypes": [Choices(PROTOTYPES)],
        "gamma": [real(*GAMMAS), None],
        "initial_model": [ProtoNNModel, None],
        "augment": ["boolean"],
        "moved_share": [SHARE],
        "group_shift": [MULTIPLE],
        "strangers": [MULTIPLE],
        "one_class": ["boolean"],
    }
    flags: ClassVar[dict[str, tuple[str, str]]] = {
        "n_projections": ("--projection-dim", "d, outputs of the projection."),
        "projection_bits": (
            "--projection-bits",
            "Bits of a weight of the projection; with 4, two of them share a byte.",
        ),
        "n_prototypes": (
            "--prototypes",
            f"m, shared among the classes.  [default: {PROTOTYPES_PER_CLASS} per class]",
        ),
        "budget": (
            "--budget",
            "Size of int8 parameters, such as 16kB (16,000 B): sets d and m by the paper's rules.",
        ),
        "sparsity_projection": ("--lambda-w", "Non-zero share of W."),
        "sparsity_prototypes": ("--lambda-b", "Non-zero share of B."),
        "sparsity_labels": ("--lambda-z", "Non-zero share of Z."),
        "trained": ("--trained", "Matrices to train; the others keep their initial values."),
        "optimizer": (
            "--optimizer",
            "Train all three matrices together, or in turn as in the paper.",
        ),
        "loss": ("--loss", "What is minimized."),
        "gamma_numerator": ("--gamma-numerator", "Initial gamma times the median distance."),
        "gamma": ("--gamma", "Initial RBF width, instead of one from the median distance."),
        "init_projection": (
            "--init-projection",
            "Initial W; identity is no projection, for any d.",
        ),
        "init_prototypes": ("--init-prototypes", "Where B and Z start."),
        "epochs": ("--epochs", "Joint: passes over the training points."),
        "iterations": ("--iterations", "Alternating: passes over each matrix."),
        "pass_epochs": ("--pass-epochs", "Alternating: epochs of a pass."),
        "step_sizes": (
            "--step-sizes",
            "Alternating: steps of eta/t, or eta/sqrt(t), accelerated.",
        ),
        "batch_size": ("--batch-size", "Points a step."),
        "learning_rate": ("--learning-rate", "Joint: the largest step."),
        "input_noise": ("--noise", "Deviation of noise added to normalized features."),
        "quantization_aware": (
            "--quantization-aware/--no-quantization-aware",
            "Joint: train the second half on the integer model's results.",
        ),
        "augment": (
            "--augment/--no-augment",
            "Joint: slightly shift, rotate, scale and distort the images at random.",
        ),
        "moved_share": ("--moved-share", "Share of a step's images that --augment changes."),
        "group_shift": (
            "--group-shift",
            "Joint, with --groups: maximum random shift of points towards another group.",
        ),
        "strangers": (
            "--outlier-exposure",
            "Synthetic points of no class per training point.  [default with --rejection: 0.5]",
        ),
        "one_class": (
            "--one-class/--all-classes",
            "Train on normal points only, and reject all others; see --rejection, --normal.",
        ),
    }
    _online: OnlineTraining | None = field(init=False, default=None)

    @available_if(_learns_online)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training with more points, each of them used once.

        Only the joint optimizer supports this; the alternating one needs all points at once. The
        first call determines the normalization and the initial values, so it should have hundreds
        of points, of most classes. See `protonn_edge.kinds.protonn.train.online` for the
        differences from `fit`. After `fit`, training continues from the fitted model.

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features.
        y : array of shape (n,)
            Labels.
        classes : array of shape (L,), optional
            All labels of all calls; required in the first call.
        sample_weight : array of shape (n,), optional
            Weight of each point, not negative.

        Returns
        -------
        ProtoNNClassifier
            This estimator, fitted.

        Raises
        ------
        ValueError
            If X or y are unusable, a label is not among the classes, or training diverges.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise InputError(
                "the first call of partial_fit has no classes; give all labels of all calls"
            )
        settings = self._settings_to_go_on()
        multilabel = are_label_sets(y) or getattr(self, "multilabel_", False)
        check_compatible(
            Case(settings=settings, multilabel=multilabel, in_parts=True), self.refusals
        )
        self.multilabel_ = False
        points, labels = labelled_points(self, X, y, "standard", reset=first)
        known = classes_to_go_on(classes, None if first else self.classes_)
        targets = class_indices(labels, known, "y")
        weights = point_weights(points, labels, sample_weight, self.class_weight)
        if weights is not None:
            rows = np.flatnonzero(weights)
            points, targets, weights = points[rows], targets[rows], weights[rows]
        self.classes_ = known
        with one_thread():
            online = self._online or self._began_online(settings, points, targets, weights)
            told = len(online.restarts)
            report = online.learn(points, targets, weights)
        self._online = online
        if self.callback is not None:
            self.callback(report)
        learned = self._learned(online.training, online.trained())
        self._keep(learned, online.training.prepared, n_train=online.n_seen, told=told)
        self._fit_temperature(points, targets)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how well prototypes cover points X (n, D): far below 0 for unknown inputs.

        Returns
        -------
        ndarray of shape (n,)
            ``-gamma min_j ||b_j - W x||``: minus the distance to the nearest prototype, in RBF
            widths. Below -3, each RBF is less than 1/8000 of its maximum. Choose the limit between
            known and unknown inputs by points of both kinds, or as a low quantile over training
            points. Differences in directions that the projection ignores are not detected.
        """
        check_is_fitted(self)
        if is_large(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return np.concatenate([self._nearness(chunk) for _, chunk in chunks_of(X)])
        points = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        return self._nearness(points)

    def _nearness(self, points: Float32 | Sparse) -> NDArray[np.float64]:
        model = cast("ProtoNNModel", self.model_)
        inputs = dense_unless_kept(points, model.normalizer.kind)
        if issparse(inputs):
            inputs = normalized(model.normalizer, inputs)
        else:
            inputs = model.normalized(inputs)
        projected = inputs @ model.projection.T.astype(np.float64)
        nearest = [
            np.square(projected - prototype).sum(axis=1)
            for prototype in model.prototypes.T.astype(np.float64)
        ]
        distances: NDArray[np.float64] = np.sqrt(np.min(nearest, axis=0))
        return -model.gamma * distances

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:
        """Return the search space, and where a search begins; see `training.protonn_search`."""

        def allows(**drawn: Any) -> bool:
            settings = cls(**{**task.fixed, **drawn}).training_settings()
            return refusal_of(Case(settings=settings), cls.refusals) is None

        return protonn_search(task, allows)

    def _train(self, prepared: PreparedPoints) -> Learned:
        self._online = None
        training = ProtoNNTraining(self.training_settings(), prepared)
        return self._learned(training, training.train())

    def _learned(self, training: ProtoNNTraining, trained: Trained) -> Learned:
        facts = {
            "trainer": self.optimizer,
            "input_noise": training.input_noise,
            "learning_rate": trained.learning_rate,
        }
        return Learned(training.model(trained), trained.history, trained.restarts, facts=facts)

    def training_settings(self) -> ProtoNNSettings:
        """Return the current parameters as settings for training."""
        return ProtoNNSettings.of(self.get_params(deep=False))

    def _settings_to_go_on(self) -> ProtoNNSettings:
        """Return the settings of `partial_fit`, which continues from an existing model."""
        model: ProtoNNModel | None = getattr(self, "model_", None)
        if model is None:
            return self.training_settings()
        return replace(self.training_settings(), initial_model=model, budget=None)

    def _began_online(
        self,
        settings: ProtoNNSettings,
        points: Float32,
        targets: Indices,
        weights: NDArray[np.float64] | None,
    ) -> OnlineTraining:
        """Return a training that begins with these points, or continues from the fitted model."""
        model: ProtoNNModel | None = getattr(self, "model_", None)
        online = OnlineTraining(
            settings,
            points,
            targets,
            weights,
            n_classes=len(self.classes_),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            model=model,
            n_seen=0 if model is None else int(model.record["n_train"]),
            epochs=0 if model is None else self.n_iter_,
        )
        self._name(online.training.prepared)
        return online

    @property
    def planned_epochs(self) -> int:
        """Number of epochs by the last report."""
        if self.one_class:
            return 1
        if self.optimizer == "alternating":
            return len(self.trained) * self.iterations * self.pass_epochs
        return self.epochs

    @property
    def _scores_are_logits(self) -> bool:
        return self.loss == "cross_entropy"

    def _label_logits(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logits; for other losses, those of scores from 0 to 1, not calibrated."""
        return scores - LABEL_RARITY if self._scores_are_logits else 4.0 * scores - 2.0
