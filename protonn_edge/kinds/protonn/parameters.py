"""The parameters for training ProtoNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.kinds.protonn.limits import GAMMAS, PROJECTION_BITS
from protonn_edge.learn.parameters import (
    AUGMENT,
    BYTES,
    CLIP,
    COUNT,
    MODEL,
    MULTIPLE,
    N_PROJECTIONS,
    SHARE,
    SPARSITY_PROJECTION,
    Choices,
    MiniBatchParameters,
    Number,
    Subset,
    parameter,
)

if TYPE_CHECKING:
    from protonn_edge.learn.objective import Loss
    from protonn_edge.learn.points import Float32
    from protonn_edge.learn.training_request import TrainingRequest
    from protonn_edge.learn.training_set import TrainingSet
    from protonn_edge.model.model import Model

MATRICES = ("W", "B", "Z")
PROJECTIONS = ("lda", "gaussian", "pca", "nca", "identity", "sleec")
PROTOTYPES = ("per_class", "kmeans", "sample")
PROTOTYPES_PER_CLASS = 4


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNParameters(MiniBatchParameters):
    """The parameters for training a ProtoNN.

    Parameters
    ----------
    n_projections : int, default=10
        Dimension d of the projected space; limited to the number of features, or averages.
    projection_bits : {8, 4}, default=8
        Bits of a weight of W on the device. With 4, the same flash holds twice as many weights, but
        large ones are clipped, for which `quantization_aware` training allows.
    n_prototypes : int, default=None
        Number m of prototypes, initially divided evenly among the classes; None means 4 per class
        or, for sets of labels, 2 per label and at most 200. If there are fewer prototypes than
        classes, one may represent several.
    budget : int, default=None
        Maximum size of W, B and Z on the device, in bytes, from which the rules in
        `protonn_edge.kinds.protonn.train.budget_rules` derive the numbers of projections and
        prototypes, instead of `n_projections` and `n_prototypes`.
    sparsity_projection, sparsity_prototypes, sparsity_labels : float in (0, 1], default=1.0
        Largest share of non-zero entries of W, B and Z (lambda in the paper); 1 is dense.
    trained : tuple of {"W", "B", "Z"}, default=("W", "B", "Z")
        The matrices to train; the others keep their initial values, as in the paper's figure 5.
    gamma_numerator : float, default=1.5
        The RBF's width starts at ``gamma = gamma_numerator / median distance``; the paper uses 2.5.
    epochs : int, default=200
        Passes of the joint optimizer over the training points, each of at most 200 steps.
    batch_size : int or "auto", default="auto"
        Points per step of the optimizer. "auto" is 256 for the joint optimizer; for the alternating
        one, all points if there are at most 10,000, else 1,024.
    learning_rate : float, default=0.01
        Largest step of the joint optimizer; reduced automatically if training diverges.
    input_noise : float or "auto", default="auto"
        Deviation of the Gaussian noise added to the normalized features while training. "auto" is a
        tenth of the median distance between neighbouring points (a thirtieth with "l2"), which
        suits test points from the same source; for people, days or sensors that are not in the
        training data, try 0.3 to 0.5. The alternating optimizer adds no noise.
    quantization_aware : bool, default=True
        Whether the second half of the joint training minimizes the loss of the integer model, with
        W, B, Z and the inputs rounded and the RBF read from its table. No effect without an integer
        model: for sets of labels, "l2", and more than 255 classes.
    init_projection : {"lda", "gaussian", "pca", "nca", "identity", "sleec"} or array, default="lda"
        Initial W: linear discriminants, random numbers, principal components, neighbourhood
        components (slower), no projection (d = D), embeddings of the label sets (as in the paper
        for multi-label data), or a given matrix (d, D) for normalized features or averages. For
        sets of labels and large tables, "lda" means "sleec".
    init_prototypes : {"per_class", "kmeans", "sample"}, default="per_class"
        Initial B and Z: k-means in each class, k-means over all points, or a sample of the points.
        For sets of labels, "per_class" means "kmeans".
    gamma : float, default=None
        Initial RBF width, instead of `gamma_numerator`.
    initial_model : Model, default=None
        A model to continue from, with its normalizer, pooling and bits; sizes and initial values
        are then ignored.
    augment : bool or float in (0, 1], default=False
        Whether the joint optimizer randomly shifts, rotates, scales and distorts images slightly,
        or the share of each step's images that it changes. Useful if the model is large enough to
        fit the training points. For gradient features, 0.5 is better than 1. The features of sounds
        move along the bands, and in time.
    group_shift : float, default=1.5
        Joint optimizer: if `fit` is given groups, such as people, the maximum random shift of
        points from their group towards another one; 1 reaches the other group, 2 goes twice as far.
        This improves generalization to people, days or sensors that were not recorded; see
        `protonn_edge.learn.group_shift`. No effect without groups, and none by default if points
        have no single class each.
    strangers : float, default=0.0
        Joint optimizer: number of synthetic points without a class, per training point, from which
        the model learns to reject inputs unlike its classes; 0.5 is a good value. Set `image_shape`
        if points are images; see `protonn_edge.learn.augmentation`.
    """

    clip: float | str = CLIP("auto")
    n_projections: int = N_PROJECTIONS(10)
    projection_bits: int = parameter(
        8,
        Choices(PROJECTION_BITS),
        help="Bits per weight of the projection; with 4, two weights share a byte.",
        option="--projection-bits",
        only="devices",
    )
    n_prototypes: int | None = parameter(
        None,
        COUNT,
        None,
        help=f"m, the number of prototypes.  [default: {PROTOTYPES_PER_CLASS} per class]",
        option="--prototypes",
        common=True,
    )
    budget: int | None = parameter(
        None,
        BYTES,
        None,
        help="Bytes for the parameters, such as 16kB; sets d and m by the ProtoNN paper's rules.",
        option="--budget",
        common=True,
        only="devices",
    )
    sparsity_projection: float = SPARSITY_PROJECTION(1.0)
    sparsity_prototypes: float = parameter(
        1.0, SHARE, help="Maximum share of nonzeros in B, the prototypes."
    )
    sparsity_labels: float = parameter(
        1.0, SHARE, help="Maximum share of nonzeros in Z, the prototypes' labels."
    )
    trained: tuple[str, ...] = parameter(
        MATRICES,
        Subset(MATRICES),
        help="Matrices to train: W (projection), B (prototypes), Z (labels); the others stay "
        "as they are.",
    )
    gamma_numerator: float = parameter(
        1.5, Number(float, 1e-6, 1e6), help="Initial gamma = gamma_numerator / median distance."
    )
    quantization_aware: bool = parameter(
        True,
        "boolean",
        help="Joint optimizer: round like the integer model in the second half of training.",
    )
    init_projection: str | ArrayLike = parameter(
        "lda",
        Choices(PROJECTIONS),
        "array-like",
        help="Initial projection W; with 'identity', features are not projected.",
    )
    init_prototypes: str = parameter(
        "per_class", Choices(PROTOTYPES), help="Initial prototypes B and labels Z."
    )
    gamma: float | None = parameter(
        None, Number(float, *GAMMAS), None, help="Initial gamma, the inverse of the RBF's width."
    )
    initial_model: Model | None = parameter(None, MODEL, None)
    augment: bool | float = AUGMENT(False)
    group_shift: float = parameter(
        1.5,
        MULTIPLE,
        help="With --groups: maximum random shift of points towards another group.",
        option="--group-shift",
    )
    strangers: float = parameter(
        0.0,
        MULTIPLE,
        help="Number of synthetic points without a class, per training point.  [default with "
        "--rejection: 0.5]",
        option="--outlier-exposure",
    )

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse combinations; see `SharedParameters.refuse`."""
        if case.predicts == "labels" and self.projection_starts_from("nca"):
            case.refuse(
                "--init-projection 'nca' is not possible, because points have sets of labels; "
                "train without it"
            )
        if case.model is not None:
            _refuse_sizes(self, case)
        if self.gamma is not None:
            case.refuse_without_effect("gamma_numerator", "--gamma is the initial width already")
        if self.projection_starts_from("identity"):
            case.refuse_without_effect(
                "n_projections", "--init-projection 'identity' keeps all features"
            )
        if self.budget is not None:
            sizes = case.first_set("n_prototypes n_projections")
            case.refuse_given(sizes, "--budget determines the sizes")

    def frozen(self, **changed: object) -> Self:
        """Return an immutable copy, with the initial projection and the matrices' names unified."""
        if not isinstance(self.init_projection, str):
            given = np.asarray(self.init_projection, dtype=np.float32)
            changed = {"init_projection": given, **changed}
        start = cast("Model | None", changed.get("initial_model", self.initial_model))
        if start is not None and (voters := getattr(start.head, "voters", None)):
            changed["initial_model"] = voters.before_training(start)
        return super().frozen(**{"trained": tuple(self.trained), **changed})

    @property
    def other_optimizer(self) -> Any:
        """The optimizer in place of the joint one; None without another one."""
        return None

    @property
    def voters_training(self) -> Any:
        """How training allows for voters beside the prototypes, `VotersTraining`; or None."""
        return None

    @property
    def learns_logits(self) -> bool:
        """Whether the loss makes the scores logits, with a sharpness that is learned."""
        return True

    def loss_for(self, data: TrainingSet) -> Loss:
        """Return the loss to minimize on points."""
        loss: Loss = data.labels.loss(has_strangers=data.has_strangers)
        return loss

    @property
    def projection_start(self) -> str | Float32:
        """The initial projection, in the form of `frozen`."""
        return cast("str | Float32", self.init_projection)

    def projection_starts_from(self, *kinds: str) -> bool:
        """Return whether the initial projection is of one of these kinds."""
        return isinstance(self.init_projection, str) and self.init_projection in kinds

    @property
    def weight_bits(self) -> int:
        """Bits of a weight of W, those of the initial model if there is one."""
        from protonn_edge.kinds.protonn.head import protonn_head

        given = self.initial_model
        if given is None:
            return self.projection_bits
        return protonn_head(given, "training from a model").projection_bits

    def projections_of(self, n_inputs: int) -> int:
        """Return d for a number of inputs, without a budget."""
        no_projection = self.init_projection == "identity"
        return n_inputs if no_projection else min(self.n_projections, n_inputs)

    @property
    def sparsity(self) -> tuple[float, float, float]:
        """Shares of non-zero entries of W, B and Z."""
        return self.sparsity_projection, self.sparsity_prototypes, self.sparsity_labels


def _refuse_sizes(settings: ProtoNNParameters, case: TrainingRequest) -> None:
    """Refuse what is given, although the model to start from has it already."""
    given = case.first_set("clip " * case.clips + "budget")
    if "normalization" in case.given and settings.normalization != settings.normalizer_kind:
        given = "--normalization"
    if settings.projection_bits != settings.weight_bits:
        given = case.first_set("projection_bits") or given
    case.refuse_given(given, "the model to start from has its own sizes, ranges and bits")
    case.refuse_without_effect(
        "n_prototypes n_projections init_projection init_prototypes gamma gamma_numerator",
        "the model to start from determines the sizes and the initial values",
    )
