"""ProtoNN as a scikit-learn estimator: the one entry point of training."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

import protonn_edge
from protonn_edge.datasets.groups import group_numbers
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.rows import Sparse
from protonn_edge.errors import InputError
from protonn_edge.model import GAMMAS, NORMALIZER_KINDS, ProtoNNModel, model_bytes
from protonn_edge.quantization import statistics_of, with_rejection
from protonn_edge.stages.decision.rejection import UNKNOWN, Statistic
from protonn_edge.stages.window_features.stage import SAMPLE_RATES
from protonn_edge.training.alternating import STEP_SIZES
from protonn_edge.training.calibration import fitted_sharpness, softmax
from protonn_edge.training.initialization import PROJECTIONS, PROTOTYPES
from protonn_edge.training.label_sets import are_label_sets, label_matrix
from protonn_edge.training.normalization import dense_unless_kept, normalized
from protonn_edge.training.objective import LABEL_RARITY, LOSSES
from protonn_edge.training.online import OnlineTraining
from protonn_edge.training.points import Float32, Indices, distinct_points
from protonn_edge.training.progress import Callback, Trained
from protonn_edge.training.stored_points import StoredPoints, chunks_of, is_large
from protonn_edge.training.task import Task
from protonn_edge.training.validation import check_finite
from protonn_edge.training.weighting import ClassWeight, point_weights

# The command line has these ranges, too. Their ends are far outside what is of use, and near enough
# to keep float32 from overflowing and a training from lasting for years.
_COUNT = Interval(Integral, 1, None, closed="left")
_PASSES = Interval(Integral, 1, 1_000_000, closed="both")
_TURNS = Interval(Integral, 1, 1_000, closed="both")
_SHARE = Interval(Real, 0, 1, closed="right")
_GAMMA = Interval(Real, *GAMMAS, closed="both")
_GAMMA_NUMERATOR = Interval(Real, 1e-6, 1e6, closed="both")
_LEARNING_RATE = Interval(Real, 1e-9, 1e9, closed="both")
_NOISE = Interval(Real, 0, 1e6, closed="both")
_SAMPLE_RATE = Interval(Real, *SAMPLE_RATES, closed="both")
_MULTIPLE = Interval(Real, 0, 100, closed="both")
_AUTO = StrOptions({"auto"})
_RECORDED_REPORTS = 5_000  # in a model file, whose record has a limit


def _learns_online(estimator: ProtoNNClassifier) -> bool:
    return estimator.optimizer == "joint"


class ProtoNNClassifier(ClassifierMixin, BaseEstimator):
    """ProtoNN: nearest prototypes in a learned, low-dimensional space (Gupta et al., ICML 2017).

    Targets are classes, or sets of labels (multi-label): a matrix of zeros and ones, or a sequence
    of collections of labels. Points may be sparse.

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
        Another way to say `n_prototypes`; give one of the two. None for both is 4 a class, or, for
        sets of labels, 2 a label and at most 200.
    budget : int, default=None
        Bytes that W, B and Z may take as int8 on the device; chooses the two above by the rules in
        `protonn_edge.training.budget_rules`. `n_projections` is then not used.
    sparsity_projection, sparsity_prototypes, sparsity_labels : float in (0, 1], default=1.0
        Largest share of non-zero entries of W, B and Z (lambda in the paper); 1 is dense.
    optimizer : {"joint", "alternating"}, default="joint"
        "joint" moves all three matrices together with Adam; "alternating" is the paper's algorithm,
        which takes them in turn.
    loss : {"cross_entropy", "squared_error", "hinge"}, default="cross_entropy"
        What is minimized. The squared error is the paper's; the cross-entropy of a softmax over the
        scores, or of a sigmoid for each label of a set (with its Brier score), generalizes better,
        and makes scores logits; the hinge holds each class against the rest.
    gamma_numerator : float, default=1.5
        The RBF's width starts at ``gamma = gamma_numerator / median distance``; the paper has
        2.5.
    normalization : {"standard", "minmax", "none", "l2"}, default="standard"
        Affine map of each feature, part of the model: zero mean and unit deviation (with a floor,
        see `protonn_edge.training.normalization`), range 0 to 1, or nothing. "l2" scales points to
        unit norm, as the paper does for sets of labels; a device cannot. With "none" and "l2"
        sparse points stay sparse, with the others they are made dense, up to 1 GiB.
    epochs : int, default=200
        Passes over the training points of the joint optimizer.
    batch_size : int or "auto", default="auto"
        Points a step of the optimizer. "auto" is 256 for the joint one; the alternating one takes
        all points at once where there are at most 10,000, and else 1,024.
    learning_rate : float, default=0.01
        Largest step of the joint optimizer; lowered on its own if training diverges.
    input_noise : float or "auto", default="auto"
        Deviation of the Gaussian noise added to the normalized features while training. "auto" is a
        tenth of the median distance between neighbouring points, a thirtieth with "l2", which suits
        test points of the same origin; for other people, days or sensors than those in training,
        try 0.3 to 0.5. The alternating optimizer adds none.
    quantization_aware : bool, default=True
        Whether the second half of the joint training minimizes the loss of the integer model: W, B,
        Z and the inputs rounded, the RBF read from its table. Without effect where no integer
        model can be: for sets of labels, "l2", and more than 255 classes.
    dead_zone : float in [0, 1), default=0.0
        Joint: share of each feature's range, beside its most frequent value, that the device reads
        as that value, which costs it no time. Training is aware of it.
    clip : float in [0, 0.5), default=0.0
        Share of the training points at either end of each feature's range that count as outliers:
        what lies as far out, here and on the device, counts as the end of the others' range. Worth
        it for sensors that jump, which otherwise decide on the scale of a feature.
    iterations : int, default=20
        Alternating optimizer: how often Z, B and W have their turns (T in the paper).
    pass_epochs : int, default=20
        Alternating optimizer: epochs of one turn (e in the paper).
    step_sizes : {"inverse_sqrt", "inverse"}, default="inverse_sqrt"
        Alternating optimizer: eta_0 / sqrt(t) with Nesterov's acceleration and tail averaging, as
        on the authors' poster, or eta_0 / t as in the paper.
    class_weight : dict, "balanced" or None, default=None
        What the points of a class count, by its label; "balanced" is one over the class's size.
    init_projection : {"lda", "gaussian", "pca", "nca", "identity", "sleec"} or array, default="lda"
        Where W starts: linear discriminants, random numbers, principal directions, neighbourhood
        components (slower), no projection at all (d = D), embeddings of the label sets as the
        paper's for multi-label data, or the given matrix (d, D), for normalized features or
        averages. For sets of labels and sparse points, "lda" stands for "sleec".
    init_prototypes : {"per_class", "kmeans", "sample"}, default="per_class"
        Where B and Z start: k-means in each class, k-means over all points, or some of the points.
        For sets of labels the first is the second.
    gamma : float, default=None
        The RBF's width at the start, in place of `gamma_numerator`.
    initial_model : ProtoNNModel, default=None
        A model to go on from, with its normalizer and pooling; sizes and initializations are then
        not used.
    image_shape : tuple of two int, default=None
        Height and width, where the features are the pixels of an image, row by row; a signal is an
        image of height 1.
    reduced_shape : tuple of two int, default=None
        Average pooling: height and width of what the image becomes, on the device too: see
        `stages.average_pooling`. W then has a column for each average, not for each pixel.
    cropped_shape : tuple of two int, default=None
        Height and width of the part in the middle of the image that is pooled; None is all of it.
    deskew : bool, default=False
        Whether images are deskewed before they are pooled, on the device too: see
        `protonn_edge.stages.deskew.deskew`.
    features : str, default=None
        Features of windows of raw samples, made before anything else, on the device too, such as
        ``"mean,deviation,min,max,crossings,bands:4"``: see `stages.window_features`. W then has a
        column for each feature, not for each sample.
    window_shape : tuple of two int, default=None
        Samples of a channel in a window, and channels; None is one channel.
    sample_rate : float, default=None
        Samples of a channel a second, kept in the model for sketches.
    augment : bool, default=False
        Whether the joint optimizer shifts, turns, scales and distorts the images a little at
        random: worth it where a model is large enough to fit the training points, and not below.
    group_shift : float, default=1.5
        Joint: how far the optimizer moves points at random from their group towards another one, if
        `fit` is given groups, such as people: 1 is up to the other group, 2 as far again beyond it.
        For people, days or sensors that were not recorded: see `protonn_edge.training.group_shift`.
        Without groups, and in `partial_fit`, it does nothing.
    strangers : float, default=0.0
        Joint: outlier exposure, so many made-up points of no class a training point, from which the
        model learns to tell what is none of its classes; 0.5 is a good number where it shall reject
        such points. Give `image_shape` where points are images: see
        `protonn_edge.training.outlier_exposure`.
    random_state : int, RandomState instance or None, default=None
        The same int gives the same model, on the same machine and libraries.
    callback : callable, default=None
        Called with an `EpochReport` after every epoch, or after every turn of the alternating
        optimizer: epoch, epochs, objective, accuracy, test accuracy if `fit` was given points.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, in the order of the scores; the numbers of the columns for a matrix of labels.
    multilabel_ : bool
        Whether the targets were sets of labels.
    n_features_in_ : int
        Number of features D.
    feature_names_in_ : ndarray of shape (D,)
        Names of the features, only where X had some.
    model_ : ProtoNNModel
        The trained model, classes and features named as `fit` found them; see `to_model`.
    n_iter_ : int
        Epochs of training.
    history_ : tuple of EpochReport
        What the callback was called with, without attempts that were given up.
    sharpness_ : float
        What scores are multiplied with before the softmax of `predict_proba`.
    restarts_ : tuple of Restart
        Attempts that diverged and were given up; each also is a `ConvergenceWarning`.

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

    model_: ProtoNNModel
    _online: OnlineTraining | None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_projections": [_COUNT],
        "n_prototypes": [_COUNT, None],
        "prototypes_per_class": [_COUNT, None],
        "budget": [_COUNT, None],
        "sparsity_projection": [_SHARE],
        "sparsity_prototypes": [_SHARE],
        "sparsity_labels": [_SHARE],
        "optimizer": [StrOptions({"joint", "alternating"})],
        "loss": [StrOptions(set(LOSSES))],
        "gamma_numerator": [_GAMMA_NUMERATOR],
        "normalization": [StrOptions(set(NORMALIZER_KINDS))],
        "epochs": [_PASSES],
        "batch_size": [_COUNT, _AUTO],
        "learning_rate": [_LEARNING_RATE],
        "input_noise": [_NOISE, _AUTO],
        "quantization_aware": ["boolean"],
        "dead_zone": [Interval(Real, 0, 1, closed="left")],
        "clip": [Interval(Real, 0, 0.5, closed="left")],
        "iterations": [_TURNS],
        "pass_epochs": [_TURNS],
        "step_sizes": [StrOptions(set(STEP_SIZES))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "init_projection": [StrOptions(set(PROJECTIONS)), "array-like"],
        "init_prototypes": [StrOptions(set(PROTOTYPES))],
        "gamma": [_GAMMA, None],
        "initial_model": [ProtoNNModel, None],
        "image_shape": [tuple, None],
        "reduced_shape": [tuple, None],
        "cropped_shape": [tuple, None],
        "deskew": ["boolean"],
        "features": [str, None],
        "window_shape": [tuple, None],
        "sample_rate": [_SAMPLE_RATE, None],
        "augment": ["boolean"],
        "group_shift": [_MULTIPLE],
        "strangers": [_MULTIPLE],
        "random_state": ["random_state"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        *,
        n_projections: int = 10,
        n_prototypes: int | None = None,
        prototypes_per_class: int | None = None,
        budget: int | None = None,
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
        clip: float = 0.0,
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
        deskew: bool = False,
        features: str | None = None,
        window_shape: tuple[int, int] | None = None,
        sample_rate: float | None = None,
        augment: bool = False,
        group_shift: float = 1.5,
        strangers: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_projections = n_projections
        self.n_prototypes = n_prototypes
        self.prototypes_per_class = prototypes_per_class
        self.budget = budget
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
        self.clip = clip
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
        self.deskew = deskew
        self.features = features
        self.window_shape = window_shape
        self.sample_rate = sample_rate
        self.augment = augment
        self.group_shift = group_shift
        self.strangers = strangers
        self.random_state = random_state
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train on points X of shape (n, D) with labels y of shape (n,).

        Parameters
        ----------
        X : array or scipy.sparse matrix of shape (n, D)
            Raw features; they are normalized here. More than 256 MiB of them in float32, in memory
            or mapped (``numpy.load(path, mmap_mode="r")``), are read in blocks and never copied
            whole; see `protonn_edge.training.stored_points` for what differs then. Sparse points,
            and points with sets of labels, are in memory.
        y : array of shape (n,), matrix of shape (n, L) or sequence of n collections
            Labels of any type, at least two different ones. Or sets of labels: a matrix, dense or
            sparse, of zeros and ones, or the labels of each point in a set, a list or a tuple.
        sample_weight : array of shape (n,), optional
            What each point counts, not negative. A point of weight 2 is the same as two points.
        groups : array of shape (n,), optional
            Which group each point is of, such as the person who made it: see `group_shift`. A
            search of scikit-learn hands its own groups on only if metadata routing asks it to.
        evaluate_on : tuple of X (n', D) and y (n',) or (n', L), optional
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
        self.multilabel_ = are_label_sets(y)
        large = is_large(X) and not self.multilabel_
        if self.multilabel_:
            points, labels = self._points_with_label_sets(X, y)
            self._sparse_labels = bool(issparse(y))
            weights = point_weights(points, np.zeros(labels.shape[0]), sample_weight, None)
        else:
            points, labels = self._training_points(X, y)
            weights = point_weights(points, labels, sample_weight, self.class_weight)
            self.classes_ = np.unique(labels if weights is None else labels[weights > 0])
        if len(self.classes_) < 2:
            raise InputError("the training data has only one class; a classifier needs at least 2")
        self._online = None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        numbers = self._groups_to_move(points, groups, large=large)
        with threadpool_limits(limits=1):  # faster for such small products, and the same everywhere
            if large:
                task, digest = self._stored_task(points, labels, weights, seed)
            else:
                task, digest = self._task(points, labels, weights, seed, numbers)
            if evaluate_on is not None:
                task.test = self._test_points(*evaluate_on)
            trained = task.train()
        self._tell(trained)
        self._keep(task, trained, n_train=int(points.shape[0]), data_sha256=digest)
        self.sharpness_ = self._sharpness(*task.calibration)
        return self

    @available_if(_learns_online)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on training with some more points, each of them seen once.

        Only the joint optimizer can do that; the alternating one needs all points at once.
        The first call decides on the normalization and on where training starts, so it should have
        hundreds of points, of most classes. See `protonn_edge.training.online` for what differs
        from `fit`. After `fit`, training goes on from the fitted model.

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features.
        y : array of shape (n,)
            Labels.
        classes : array of shape (L,), optional
            All labels that will ever come; needed in the first call.
        sample_weight : array of shape (n,), optional
            What each point counts, not negative.

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
                "the first call of partial_fit has no classes; give all labels that will ever come"
            )
        if are_label_sets(y) or getattr(self, "multilabel_", False):
            raise InputError("partial_fit learns one label a point; call fit with sets of labels")
        self.multilabel_ = False
        points, labels = self._training_points(X, y, reset=first)
        points = dense_unless_kept(points, "standard")  # a call has few of them
        known = self.classes_ if classes is None else np.unique(np.asarray(classes))
        if len(known) < 2:
            raise InputError("partial_fit was given only one class; a classifier needs at least 2")
        if not first and not np.array_equal(known, self.classes_):
            raise InputError(
                "the classes given to partial_fit are not those of the calls before; leave classes "
                "out, or train a new estimator"
            )
        unknown = np.setdiff1d(labels, known)
        if len(unknown):
            raise InputError(
                f"y has the label {label_text(str(unknown[0]))!r}, which is not among the classes; "
                "leave its points out, or train a new estimator with all classes"
            )
        weights = point_weights(points, labels, sample_weight, self.class_weight)
        if weights is not None:
            rows = np.flatnonzero(weights)
            points, labels, weights = points[rows], labels[rows], weights[rows]
        self.classes_ = known
        targets = np.searchsorted(known, labels)
        with threadpool_limits(limits=1):
            online = getattr(self, "_online", None)
            if online is None:
                online = self._began_online(points, targets, weights)
            told = len(online.restarts)
            report = online.learn(points, targets, weights)
        self._online = online
        if self.callback is not None:
            self.callback(report)
        trained = online.trained()
        self._tell(trained, told=told)
        self._keep(online.task, trained, n_train=online.n_seen, data_sha256=online.data_sha256)
        self.sharpness_ = self._sharpness(points, targets)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores of points X (n, D).

        Returns
        -------
        ndarray of shape (n, L), or (n,) for two classes
            The scores; for two classes the second less the first, as scikit-learn has it. A higher
            score ranks a label higher; see `ProtoNNModel.threshold` for where it begins to apply.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2 and not self.multilabel_:
            difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
            return difference
        return scores

    def predict(self, X: ArrayLike, *, unknown: Any = None) -> NDArray[Any]:
        """Return the label with the highest score for each of the points X (n, D).

        After training with sets of labels: a matrix (n, L), 1 where a point has the label, sparse
        if the matrix of training was. The threshold is that of the best F1 on training points.

        Parameters
        ----------
        X : array or scipy.sparse matrix of shape (n, D)
            Raw features.
        unknown : object, optional
            The label to return for points that are unlike all classes, such as -1, as
            `calibrate_rejection` has decided. Without it every point gets one of the classes.

        Raises
        ------
        InputError
            If `unknown` is given, but `calibrate_rejection` was not called, or it is a class.
        """
        if unknown is not None:
            return self._predict_or(unknown, X)
        scores = self._scores(X)
        if self.multilabel_:
            indicator = self.model_.labels_of(scores)
            return csr_array(indicator) if self._sparse_labels else indicator
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def calibrate_rejection(
        self, X: ArrayLike, *, rate: float = 0.01, by: Sequence[Statistic] = ("score",)
    ) -> Self:
        """Choose thresholds below which points are unknown, for `predict` and the device.

        Parameters
        ----------
        X : array of shape (n, D)
            Points of the classes that were neither trained on nor will be tested on.
        rate : float
            Share of such points that may be called unknown, above 0 and below 1.
        by : sequence of {"score", "distance", "margin"}
            See `protonn_edge.stages.decision.rejection`.

        Returns
        -------
        ProtoNNClassifier
            This estimator, whose model has a `rejection`.

        Raises
        ------
        InputError
            If there are too few points for the rate, or the model has no integers.
        """
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        model: ProtoNNModel = self.model_
        self.model_ = with_rejection(model, statistics_of(model, points), rate, by)
        return self

    def _predict_or(self, unknown: Any, X: ArrayLike) -> NDArray[Any]:
        """Return labels, and `unknown` for what the model rejects."""
        check_is_fitted(self)
        if self.model_.rejection is None:
            raise InputError(
                f"predict was asked for {unknown!r} where points are unknown, but no thresholds "
                "were chosen; call calibrate_rejection first"
            )
        if unknown in self.classes_.tolist():
            raise InputError(f"the label for unknown points, {unknown!r}, is a class; take another")
        points = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        indices = self.model_.predict(points)
        rejected = indices == UNKNOWN
        labels: NDArray[Any] = self.classes_[np.where(rejected, 0, indices)]
        label = np.asarray(unknown)
        if (label.dtype.kind in "iuf") != (labels.dtype.kind in "iuf"):
            label, labels = label.astype(object), labels.astype(object)  # not -1 as a text
        return np.where(rejected, label, labels)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities, shape (n, L), of the classes for points X (n, D).

        They are the softmax of the scores, which the cross-entropy trains for. For another loss the
        scores are first multiplied with `sharpness_`; see `protonn_edge.training.calibration`.
        For sets of labels each label has a probability of its own: the sigmoid that the
        cross-entropy trains for, or that of ``4 s - 2`` for another loss, whose scores s go from 0
        to 1; it has the slope of s in the middle, and is not calibrated.
        """
        scores = self._scores(X)
        if self.multilabel_:
            trained_for = self.loss == "cross_entropy"
            logits = scores - LABEL_RARITY if trained_for else 4.0 * scores - 2.0
            labelled: NDArray[np.float64] = expit(logits)
            return labelled
        return softmax(scores * self.sharpness_)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how well prototypes cover points X (n, D): unlike anything else if far below 0.

        Returns
        -------
        ndarray of shape (n,)
            ``-gamma min_j ||b_j - W x||``: less the distance to the nearest prototype in RBF
            widths. Below -3 no prototype says more than 1/8000 of what it can. Take the limit
            between known and unknown inputs from points of both kinds, or a low quantile of those
            of the training points: what the projection does not look at, this does not see.
        """
        check_is_fitted(self)
        if is_large(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return np.concatenate([self._nearness(chunk) for _, chunk in chunks_of(X)])
        points = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        return self._nearness(points)

    def _nearness(self, points: Float32 | Sparse) -> NDArray[np.float64]:
        model, inputs = self.model_, dense_unless_kept(points, self.model_.normalizer.kind)
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

    def _points_with_label_sets(self, X: ArrayLike, y: Any) -> tuple[Float32 | Sparse, Sparse]:
        """Return points and a matrix of label sets, checked; keep the labels."""
        if self.class_weight is not None:
            raise InputError(
                "class_weight is set, but a point with a set of labels is of no one class; give "
                "sample_weight"
            )
        points = self._checked(X, "X", reset=True)
        sets, self.classes_ = label_matrix(y)
        check_consistent_length(points, sets)
        if not sets.nnz:
            raise InputError("no point has a label; give the labels of each point")
        return points, sets

    def _checked(self, X: ArrayLike, what: str, *, reset: bool) -> Float32 | Sparse:
        """Return points without labels, checked, dense unless they may stay sparse."""
        points = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float32,
            ensure_all_finite=False,
        )
        check_finite(points, what)
        return dense_unless_kept(points, self._zeros_by())

    def _zeros_by(self) -> str:
        """Return the kind of normalizer that says whether zeros stay zeros."""
        given = self.initial_model
        return self.normalization if given is None else given.normalizer.kind

    def _training_points(
        self, X: ArrayLike, y: ArrayLike, *, reset: bool = True
    ) -> tuple[NDArray[Any] | Sparse, NDArray[Any]]:
        """Return points and labels, checked; large ones are checked when they are read."""
        if is_large(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            labels = column_or_1d(y)
            check_consistent_length(X, labels)
            points: Any = np.asarray(X)
        else:
            points, labels = validate_data(
                self,
                X,
                y,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float32,
                ensure_all_finite=False,
            )
            check_finite(points)
            points = dense_unless_kept(points, self._zeros_by())
        check_classification_targets(labels)
        return points, labels

    def _task(
        self,
        points: Float32 | Sparse,
        labels: NDArray[Any] | Sparse,
        weights: NDArray[np.float64] | None,
        seed: int,
        groups: Indices | None,
    ) -> tuple[Task, str]:
        """Return what is to be done with points in memory, and the digest of the data."""
        targets = labels if self.multilabel_ else np.searchsorted(self.classes_, labels)
        digest = hashlib.sha256()
        _digest_matrix(digest, points, "<f4")
        _digest_matrix(digest, targets, "<i8")
        if weights is not None:
            digest.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
        if groups is not None:
            digest.update(np.ascontiguousarray(groups, dtype="<i8").tobytes())
        distinct, y, counts, kept = distinct_points(points, targets, weights, groups)
        task = Task(self, distinct, y, counts, seed=seed, groups=kept)
        task.n_rows = targets.shape[0] if weights is None else int(np.count_nonzero(weights))
        return task, digest.hexdigest()

    def _stored_task(
        self,
        points: NDArray[Any],
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
        seed: int,
    ) -> tuple[Task, str]:
        """Return what is to be done with points that are read in blocks, and their digest."""
        stored = StoredPoints(points, np.searchsorted(self.classes_, labels), weights)
        task = Task(self, *stored.sample(np.random.default_rng(seed)), seed=seed, stored=stored)
        task.n_rows = len(stored)
        return task, task.data_sha256

    def _groups_to_move(
        self, points: Float32 | Sparse, groups: ArrayLike | None, *, large: bool
    ) -> Indices | None:
        """Return the group of each point as a number, if points are to be moved between groups."""
        if groups is None:
            return None
        numbers = group_numbers(groups, points.shape[0])
        if self.group_shift == 0:
            return None
        for refused, what in (
            (self.multilabel_, "points have sets of labels"),
            (issparse(points), "the points are sparse"),
            (large, "the points are read in blocks"),
            (self.optimizer != "joint", "the alternating optimizer takes points as they are"),
        ):
            if refused:
                raise InputError(
                    f"the group shift is {self.group_shift:g}, but {what}; set it to 0, or leave "
                    "the groups out"
                )
        return numbers

    def _began_online(
        self, points: Float32, targets: Indices, weights: NDArray[np.float64] | None
    ) -> OnlineTraining:
        """Return a training that begins with these points, or goes on from the fitted model."""
        model: ProtoNNModel | None = getattr(self, "model_", None)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_seen = 0 if model is None else int(model.record["n_train"])
        return OnlineTraining(
            self,
            points,
            targets,
            weights,
            n_classes=len(self.classes_),
            seed=seed,
            model=model,
            n_seen=n_seen,
            epochs=0 if model is None else self.n_iter_,
        )

    def _keep(self, task: Task, trained: Trained, *, n_train: int, data_sha256: str) -> None:
        """Make the model of what was found."""
        self.model_ = task.model(
            trained,
            classes=tuple(label_text(str(label)) for label in self.classes_),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
            record=self._record(task, trained, n_train, data_sha256),
        )

    def _sharpness(self, points: Float32 | Sparse, targets: Indices) -> float:
        """Return what scores are multiplied with before a softmax; see `predict_proba`."""
        if self.loss == "cross_entropy" or self.multilabel_:
            return 1.0
        return fitted_sharpness(self.model_.scores(points), targets)

    def _tell(self, trained: Trained, told: int = 0) -> None:
        """Keep what the optimizer reported; say what went wrong on the way."""
        self.history_ = trained.history
        self.n_iter_ = trained.history[-1].epoch
        self.restarts_ = trained.restarts
        for restart in trained.restarts[told:]:
            warnings.warn(str(restart), ConvergenceWarning, stacklevel=4)

    def _test_points(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32 | Sparse, Indices | Sparse]:
        """Return raw points and class indices, or label sets, to report on."""
        points = self._checked(X, "evaluate_on", reset=False)
        if self.multilabel_:
            sets, _ = label_matrix(y, self.classes_)
            check_consistent_length(points, sets)
            return points, sets
        labels = column_or_1d(y)
        check_consistent_length(points, labels)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise InputError(
                f"evaluate_on has the label {label_text(str(unknown[0]))!r}, the training data has "
                "none of that; leave its points out"
            )
        return points, np.searchsorted(self.classes_, labels)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        if is_large(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return np.concatenate([self.model_.scores(chunk) for _, chunk in chunks_of(X)])
        points = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        return self.model_.scores(points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _record(
        self, task: Task, trained: Trained, n_train: int, data_sha256: str
    ) -> dict[str, Any]:
        """Return how the model came about, for its file: no time, no path."""
        settings = {
            name: value
            for name, value in self.get_params().items()
            if name not in ("callback", "random_state")
        }
        if not isinstance(self.init_projection, str):  # a digest, for it may have many numbers
            settings["init_projection"] = np.asarray(self.init_projection, dtype="<f4")
        step = -(-len(trained.history) // _RECORDED_REPORTS)
        history = trained.history[::-step][::-1]  # the last one is always among them
        return {
            "trainer": self.optimizer,
            "versions": {
                "protonn-edge": protonn_edge.__version__,
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
            },
            "settings": json.loads(json.dumps(settings, default=_plain)),
            "seed": task.seed,
            "input_noise": task.input_noise,
            "learning_rate": trained.learning_rate,
            "restarts": [str(restart) for restart in trained.restarts],
            "n_train": n_train,
            "data_sha256": data_sha256,
            "history": {
                "objective": [round(report.objective, 6) for report in history],
                "accuracy": [round(report.accuracy, 6) for report in history],
            },
        }


def _digest_matrix(digest: Any, matrix: Any, dtype: str) -> None:
    """Add a matrix or a vector to a digest; a sparse one by its non-zero values and places."""
    if issparse(matrix):
        for places in (matrix.indptr, matrix.indices):
            digest.update(np.ascontiguousarray(places, dtype="<i8").tobytes())
        matrix = matrix.data
    digest.update(np.ascontiguousarray(matrix, dtype=dtype).tobytes())


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
