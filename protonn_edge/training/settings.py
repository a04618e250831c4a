"""Settings for training: a classifier's parameters, copied once when `fit` begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any, Self

import numpy as np

from protonn_edge.kinds.protonn.head import ProtoNNModel
from protonn_edge.training.feature_registry import AllFeatures
from protonn_edge.training.points import Float32
from protonn_edge.training.progress import Callback
from protonn_edge.training.weighting import ClassWeight


@dataclass(kw_only=True, eq=False)
class TrainingSettings(AllFeatures):
    """Settings for preparing points; defaults for parameters that a classifier does not have.

    It is immutable, but not a frozen dataclass, which could not inherit the feature parameters from
    classes shared with classifiers.

    Attributes
    ----------
    augment, group_shift, strangers, one_class, initial_model
        See `ProtoNNClassifier`; the others are those of `DeviceClassifier`.
    """

    normalization: str
    dead_zone: float
    clip: float
    class_weight: ClassWeight
    callback: Callback | None
    augment: bool = False
    group_shift: float = 0.0
    strangers: float = 0.0
    one_class: bool = False
    initial_model: ProtoNNModel | None = None

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self) or name not in self.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super().__setattr__(name, value)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the settings of an estimator whose parameters were checked one by one."""
        names = [each.name for each in fields(cls) if each.name in parameters]
        return cls(**{name: parameters[name] for name in names})

    @property
    def normalizer_kind(self) -> str:
        """The kind of normalizer; that of the model to start from, if any."""
        given = self.initial_model
        return self.normalization if given is None else given.normalizer.kind


@dataclass(kw_only=True, eq=False)
class ProtoNNSettings(TrainingSettings):
    """Further settings for training a ProtoNN; see `ProtoNNClassifier`."""

    n_projections: int
    projection_bits: int
    n_prototypes: int | None
    prototypes_per_class: int | None
    budget: int | None
    sparsity_projection: float
    sparsity_prototypes: float
    sparsity_labels: float
    trained: tuple[str, ...]
    optimizer: str
    loss: str
    gamma_numerator: float
    moved_share: float
    epochs: int
    batch_size: int | str
    learning_rate: float
    input_noise: float | str
    quantization_aware: bool
    iterations: int
    pass_epochs: int
    step_sizes: str
    init_projection: str | Float32
    init_prototypes: str
    gamma: float | None

    def __post_init__(self) -> None:
        if not isinstance(self.init_projection, str):
            given = np.asarray(self.init_projection, dtype=np.float32)
            object.__setattr__(self, "init_projection", given)
        object.__setattr__(self, "trained", tuple(self.trained))

    @property
    def weight_bits(self) -> int:
        """Bits of a weight of W; those of the model to start from, if any."""
        given = self.initial_model
        return self.projection_bits if given is None else given.projection_bits

    @property
    def sparsity(self) -> tuple[float, float, float]:
        """Shares of non-zero entries of W, B and Z."""
        return self.sparsity_projection, self.sparsity_prototypes, self.sparsity_labels
