"""ProtoNN as a scikit-learn estimator: the one entry point of training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError
from protonn_edge.model import NORMALIZER_KINDS, ProtoNNModel, model_bytes
from protonn_edge.training.alternating import STEP_SIZES
from protonn_edge.training.initialization import PROJECTIONS, PROTOTYPES
from protonn_edge.training.objective import LOSSES
from protonn_edge.training.points import Float32, Indices, distinct_points
from protonn_edge.training.progress import Callback, Trained
from protonn_edge.training.task import Task
from protonn_edge.training.weighting import ClassWeight, point_weights

_COUNT = Interval(Integral, 1, None, closed="left")
_SHARE = Interval(Real, 0, 1, closed="right")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_AUTO = StrOptions({"auto"})


def _has_probabilities(estimator: ProtoNNClassifier) -> bool:
    return estimator.loss == "cross_entropy"


class ProtoNNClassifier(ClassifierMixin, BaseEstimator):
    """ProtoNN: nearest prototypes in a learned, low-dimensional space (Gupta et al., ICML 2017).

    The projection W, the prototypes B and their label vectors Z are learned together, each under a
    constraint on its number of non-zero entries. The score of class l is
    ``sum_j Z[l, j] exp(-gamma^2 ||B[:, j] - W x||^2)``.

    Parameters
    ----------
    n_projections : int, default=10
        Dimension d of the projected space; no more than there are features, or averages, is used.
    n_prototypes : int, default=None
        Number m of prototypes, shared evenly by the classes to start with. None: see
        `prototypes_per_class`. With fewer prototypes than classes, one may stand for several.
    prototypes_per_class : int, default=None
        Another way to say `n_prototypes`; give one of the two. None for both is 4 a class.
    sparsity_projection, sparsity_prototypes, sparsity_labels : float in (0, 1], default=1.0
        Largest share of non-zero entries of W, B and Z (lambda in the paper); 1 is dense.
    optimizer : {"joint", "alternating"}, default="joint"
        "joint" moves all three matrices together with Adam; "alternating" is the paper's algorithm,
        which takes them in turn.
    loss : {"cross_entropy", "squared_error"}, default="cross_entropy"
        What is minimized. The squared error is the paper's; the cross-entropy of a softmax over the
        scores generalizes better, and gives probabilities.
    gamma_numerator : float, default=1.5
        The kernel's width starts at ``gamma = gamma_numerator / median distance``; the paper has
        2.5.
    normalization : {"standard", "minmax", "none"}, default="standard"
        Affine map of each feature, part of the model: zero mean and unit deviation (with a floor,
        see `protonn_edge.training.normalization`), range 0 to 1, or nothing.
    epochs : int, default=200
        Passes over the training points of the joint optimizer.
    batch_size : int or "auto", default="auto"
        Points a step of the optimizer. "auto" is 256 for the joint one; the alternating one takes
        all points at once where there are at most 10,000, and else 1,024.
    learning_rate : float, default=0.01
        Largest step of the joint optimizer; lowered on its own if training diverges.
    input_noise : float or "auto", default="auto"
        Deviation of the Gaussian noise added to the normalized features while training. "auto" is a
        tenth of the median distance between neighbouring points, which suits test points of the
        same origin; for other people, days or sensors than those in training, try 0.3 to 0.5. The
        alternating optimizer adds none.
    quantization_aware : bool, default=True
        Whether the second half of the joint training minimizes the loss of the integer model: W, B,
        Z and the inputs rounded, the kernel read from its table.
    dead_zone : float in [0, 1), default=0.0
        Joint: share of each feature's range, beside its most frequent value, that the device reads
        as that value, which costs it no time. Training is aware of it.
    iterations : int, default=20
        Alternating optimizer: how often Z, B and W have their turns (T in the paper).
    pass_epochs : int, default=20
        Alternating optimizer: epochs of one turn (e in the paper).
    step_sizes : {"inverse_sqrt", "inverse"}, default="inverse_sqrt"
        Alternating optimizer: eta_0 / sqrt(t) with Nesterov's acceleration and tail averaging, as
        on the authors' poster, or eta_0 / t as in the paper.
    class_weight : dict, "balanced" or None, default=None
        What the points of a class count, by its label; "balanced" is one over the class's size.
    init_projection : {"lda", "gaussian", "pca", "identity"} or array (d, D), default="lda"
        Where W starts: linear discriminants, random numbers, principal directions, no projection
        at all (d = D), or the given matrix, for normalized features or averages.
    init_prototypes : {"per_class", "kmeans", "sample"}, default="per_class"
        Where B and Z start: k-means in each class, k-means over all points, or some of the points.
    gamma : float, default=None
        The kernel's width at the start, in place of `gamma_numerator`.
    initial_model : ProtoNNModel, default=None
        A model to go on from, with its normalizer and reduction; sizes and initializations are then
        not used.
    image_shape : tuple of two int, default=None
        Height and width, where the features are the pixels of an image, row by row; a signal is an
        image of height 1.
    reduced_shape : tuple of two int, default=None
        Height and width of area averages of the image, made before anything else, on the device
        too: see `protonn_edge.reduction`. W then has a column for each average, not for each pixel.
    cropped_shape : tuple of two int, default=None
        Height and width of the part in the middle of the image that is averaged; None is all of it.
    augment : bool, default=False
        Whether the joint optimizer shifts, turns and scales the images a little at random: worth
        it where a model is large enough to fit the training points, and not below.
    random_state : int, RandomState instance or None, default=None
        The same int gives the same model, on the same machine and libraries.
    callback : callable, default=None
        Called with an `EpochReport` after every epoch, or after every turn of the alternating
        optimizer: epoch, epochs, objective, accuracy, test accuracy if `fit` was given points.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, in the order of the scores.
    n_features_in_ : int
        Number of features D.
    feature_names_in_ : ndarray of shape (D,)
        Names of the features, only where X had some.
    model_ : ProtoNNModel
        The trained model, classes and features named as `fit` found them; see `to_model`.
    n_iter_ : int
        Epochs of training.
    history_ : tuple of EpochReport
        What the callback was called with.

    References
    ----------
    .. [1] C. Gupta et al., "ProtoNN: Compressed and Accurate kNN for Resource-scarce Devices",
       ICML 2017.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.training import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ProtoNNClassifier(n_projections=8, n_prototypes=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.96)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_projections": [_COUNT],
        "n_prototypes": [_COUNT, None],
        "prototypes_per_class": [_COUNT, None],
        "sparsity_projection": [_SHARE],
        "sparsity_prototypes": [_SHARE],
        "sparsity_labels": [_SHARE],
        "optimizer": [StrOptions({"joint", "alternating"})],
        "loss": [StrOptions(set(LOSSES))],
        "gamma_numerator": [_POSITIVE],
        "normalization": [StrOptions(set(NORMALIZER_KINDS))],
        "epochs": [_COUNT],
        "batch_size": [_COUNT, _AUTO],
        "learning_rate": [_POSITIVE],
        "input_noise": [Interval(Real, 0, None, closed="left"), _AUTO],
        "quantization_aware": ["boolean"],
        "dead_zone": [Interval(Real, 0, 1, closed="left")],
        "iterations": [_COUNT],
        "pass_epochs": [_COUNT],
        "step_sizes": [StrOptions(set(STEP_SIZES))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "init_projection": [StrOptions(set(PROJECTIONS)), "array-like"],
        "init_prototypes": [StrOptions(set(PROTOTYPES))],
        "gamma": [_POSITIVE, None],
        "initial_model": [ProtoNNModel, None],
        "image_shape": [tuple, None],
        "reduced_shape": [tuple, None],
        "cropped_shape": [tuple, None],
        "augment": ["boolean"],
        "random_state": ["random_state"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        *,
        n_projections: int = 10,
        n_prototypes: int | None = None,
        prototypes_per_class: int | None = None,
        sparsity_projection: float = 1.0,
        sparsity_prototypes: float = 1.0,
        sparsity_labels: float = 1.0,
        optimizer: str = "joint",
        loss: str = "cross_entropy",
        gamma_numerator: float = 1.5,
        normalization: str = "standard",
        epochs: int = 200,
        batch_size: int | str = "auto",
        learning_rate: float = 0.01,
        input_noise: float | str = "auto",
        quantization_aware: bool = True,
        dead_zone: float = 0.0,
        iterations: int = 20,
        pass_epochs: int = 20,
        step_sizes: str = "inverse_sqrt",
        class_weight: ClassWeight = None,
        init_projection: str | ArrayLike = "lda",
        init_prototypes: str = "per_class",
        gamma: float | None = None,
        initial_model: ProtoNNModel | None = None,
        image_shape: tuple[int, int] | None = None,
        reduced_shape: tuple[int, int] | None = None,
        cropped_shape: tuple[int, int] | None = None,
        augment: bool = False,
        random_state: int | np.random.RandomState | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_projections = n_projections
        self.n_prototypes = n_prototypes
        self.prototypes_per_class = prototypes_per_class
        self.sparsity_projection = sparsity_projection
        self.sparsity_prototypes = sparsity_prototypes
        self.sparsity_labels = sparsity_labels
        self.optimizer = optimizer
        self.loss = loss
        self.gamma_numerator = gamma_numerator
        self.normalization = normalization
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.input_noise = input_noise
        self.quantization_aware = quantization_aware
        self.dead_zone = dead_zone
        self.iterations = iterations
        self.pass_epochs = pass_epochs
        self.step_sizes = step_sizes
        self.class_weight = class_weight
        self.init_projection = init_projection
        self.init_prototypes = init_prototypes
        self.gamma = gamma
        self.initial_model = initial_model
        self.image_shape = image_shape
        self.reduced_shape = reduced_shape
        self.cropped_shape = cropped_shape
        self.augment = augment
        self.random_state = random_state
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train on points X of shape (n, D) with labels y of shape (n,).

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features; they are normalized here.
        y : array of shape (n,)
            Labels of any type, at least two different ones.
        sample_weight : array of shape (n,), optional
            What each point counts, not negative. A point of weight 2 is the same as two points.
        evaluate_on : tuple of X (n', D) and y (n',), optional
            Points that the reports' test accuracy is measured on; training does not depend on them.

        Returns
        -------
        ProtoNNClassifier
            This estimator, fitted.

        Raises
        ------
        ValueError
            If X or y are unusable, a parameter is out of its range, or training diverges.
        """
        points, labels = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(labels)
        weights = point_weights(points, labels, sample_weight, self.class_weight)
        counted = slice(None) if weights is None else weights > 0
        self.classes_, targets = np.unique(labels[counted], return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("the training data has only one class; a classifier needs at least 2")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with threadpool_limits(limits=1):  # faster for such small products, and the same everywhere
            merged = distinct_points(
                points[counted], targets, None if weights is None else weights[counted]
            )
            task = Task(self, *merged, seed=seed)
            if evaluate_on is not None:
                task.test = self._test_points(*evaluate_on)
            trained = task.train()
        self.history_ = trained.history
        self.n_iter_ = trained.history[-1].epoch
        self.model_ = task.model(
            trained,
            classes=tuple(label_text(str(label)) for label in self.classes_),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
            record=self._record(points, labels, weights, task, trained),
        )
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores of points X (n, D).

        Returns
        -------
        ndarray of shape (n, L), or (n,) for two classes
            The scores; for two classes the second less the first, as scikit-learn has it.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
            return difference
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label with the highest score for each of the points X (n, D)."""
        indices = self._scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[indices]
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities, shape (n, L), of the classes for points X (n, D).

        They are the softmax of the scores; only a model trained with the cross-entropy has them.
        """
        likelihoods = self._scores(X)
        likelihoods -= likelihoods.max(axis=1, keepdims=True)
        np.exp(likelihoods, out=likelihoods)
        likelihoods /= likelihoods.sum(axis=1, keepdims=True)
        return likelihoods

    def to_model(
        self, *, classes: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
    ) -> ProtoNNModel:
        """Return the trained model, with other display names if given.

        Parameters
        ----------
        classes : sequence of L str, optional
            Names in the order of `classes_`; by default the labels themselves.
        feature_names : sequence of D str, optional
            By default those that X had, if any.

        Raises
        ------
        InputError
            If a number of names does not fit or a name cannot be shown.
        """
        check_is_fitted(self)
        return replace(
            self.model_,
            classes=self.model_.classes if classes is None else tuple(classes),
            feature_names=self.model_.feature_names
            if feature_names is None
            else tuple(feature_names),
        )

    def _test_points(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Indices]:
        """Return raw points and class indices to report on."""
        points, labels = validate_data(self, X, y, reset=False, dtype=np.float32)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise InputError(
                f"evaluate_on has the label {label_text(str(unknown[0]))!r}, the training data has "
                "none of that; leave its points out"
            )
        return points, np.searchsorted(self.classes_, labels)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        return self.model_.scores(points)

    def _record(
        self,
        points: Float32,
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
        task: Task,
        trained: Trained,
    ) -> dict[str, Any]:
        """Return how the model came about, for its file: no time, no path."""
        settings = {
            name: value
            for name, value in self.get_params().items()
            if name not in ("callback", "random_state")
        }
        if not isinstance(self.init_projection, str):  # a digest, for it may have many numbers
            settings["init_projection"] = np.asarray(self.init_projection, dtype="<f4")
        digest = hashlib.sha256(np.ascontiguousarray(points, dtype="<f4").tobytes())
        targets = np.searchsorted(self.classes_, labels)
        digest.update(np.ascontiguousarray(targets, dtype="<i8").tobytes())
        if weights is not None:
            digest.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
        return {
            "trainer": self.optimizer,
            "settings": json.loads(json.dumps(settings, default=_plain)),
            "seed": task.seed,
            "input_noise": task.input_noise,
            "learning_rate": trained.learning_rate,
            "n_train": len(points),
            "data_sha256": digest.hexdigest(),
            "history": {
                "objective": [round(report.objective, 6) for report in trained.history],
                "accuracy": [round(report.accuracy, 6) for report in trained.history],
            },
        }


def _plain(value: Any) -> Any:
    """Return a value that JSON has no word for: a number, a digest, or its text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, ProtoNNModel):
        return f"model {hashlib.sha256(model_bytes(value)).hexdigest()}"
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.shape} {digest}"
    return str(value)
