"""What learns a ProtoNN: nearest prototypes in a projected space."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.kinds.protonn.train.budget_rules import sizes_within
from protonn_edge.kinds.protonn.train.fitting import default_prototypes, learned_head
from protonn_edge.learn.group_shift import GroupShift
from protonn_edge.learn.input_space import count_inputs
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.points import Move, Points
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.refusals import is_refused
from protonn_edge.learn.searched import (
    FEATURES_BEGUN,
    FEATURES_SEARCHED,
    Among,
    Between,
    SearchSpec,
    SearchTask,
)
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.integer_stage import MOST_CLASSES, check_counts
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

_MOST_PROJECTIONS = 40
_MOST_PROTOTYPES = 800

_BEGUN = (
    *("sparsity_projection", "init_projection", "gamma_numerator"),
    *("input_noise", "learning_rate", "augment", "group_shift"),
)
"""Parameters with whose defaults a search begins."""
_EPOCHS = 120  # epochs of the first trials

# Shares of the bytes for parameters, each with settings that differ from the defaults. Sizes follow
# the paper's rules, with the number of projections if given. The variations are for people, days or
# sensors that are not in the training data.
_STARTS: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.5, {"n_projections": 20, "augment": True}),
    (0.25, {}),
    (0.5, {}),
    (0.12, {}),
    (0.25, {"input_noise": 0.5, "gamma_numerator": 0.5}),
    (0.5, {"init_projection": "nca", "input_noise": 0.2}),
    (0.9, {"init_projection": "nca", "input_noise": 0.2, "epochs": 200}),
    (0.06, {}),
)


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNLearner(ProtoNNParameters, Learner):
    """Learns a ProtoNN; `ProtoNNClassifier` describes it."""

    starts_from: ClassVar[str] = "protonn"
    takes: ClassVar[frozenset[str]] = frozenset({"class", "labels"})

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space, which depends only on the task, and where a search begins.

        Sparse B and Z are not searched: on the device they take as many bytes as dense ones.
        """

        def allows(**drawn: Any) -> bool:
            settings = cls(**{**task.fixed, **drawn}).frozen()
            return not is_refused(TrainingRequest(settings=settings))

        fitting = task.parameter_bytes // (1 + task.n_classes)
        most = max(task.n_classes, min(task.n_points, _MOST_PROTOTYPES, fitting))
        parameters: dict[str, Among | Between] = {
            "n_projections": Between(1, min(task.n_inputs, _MOST_PROJECTIONS)),
            "n_prototypes": Between(task.n_classes, most),
            "sparsity_projection": Among((1.0, 0.5, 0.25)),
            "init_projection": Among(("lda", "pca", "nca")),
            "gamma_numerator": Between(0.3, 3.0),
            "input_noise": Among(("auto", 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)),
            "learning_rate": Between(0.003, 0.03),
            "epochs": Among((60, 120, 200)),
            "clip": FEATURES_SEARCHED["clip"],
        }
        if allows(augment=True):
            parameters["augment"] = Among((False, True))
        if task.in_groups:
            parameters["group_shift"] = Among((0.0, 1.5))
        return SearchSpec(
            parameters,
            tuple(cls._starts(task)),
            {"epochs": 1, "quantization_aware": False, "augment": False, "init_projection": "pca"},
            {"n_prototypes": 2},
            {
                "d": ("n_projections",),
                "m": ("n_prototypes",),
                "start, noise": ("init_projection", "input_noise"),
            },
        )

    @classmethod
    def _starts(cls, task: SearchTask) -> list[dict[str, Any]]:
        """Return the default settings at several sizes, and variations of them."""
        begun = {name: getattr(cls, name) for name in _BEGUN if name in cls.parameters} | {
            **FEATURES_BEGUN,
            "epochs": _EPOCHS,
        }
        starts = []
        for share, differing in _STARTS:
            projections = differing.get("n_projections")
            try:
                sizes = sizes_within(
                    int(share * task.parameter_bytes),
                    n_features=task.n_inputs,
                    n_classes=task.n_classes,
                    n_points=task.n_points,
                    n_projections=None if projections is None else min(projections, task.n_inputs),
                )
            except InputError:  # not even the smallest model fits
                continue
            settled = {"n_projections": sizes.n_projections, "n_prototypes": sizes.n_prototypes}
            starts.append(begun | differing | settled)
        return starts

    def learn(self, data: TrainingSet) -> Learned:
        """Learn W, B and Z; see `Learner.learn`."""
        return learned_head(self, data)

    def move_of_groups(self, points: Points) -> Move | None:
        """Return the shift between groups, unless W keeps what distinguishes them."""
        voters = self.voters_training
        if voters is not None and voters.new_classes:
            return None
        together = voters is not None and voters.in_groups
        return GroupShift(points, float(self.group_shift), together=together)

    def check_sizes(self, dataset: Dataset, given: Collection[str]) -> list[Notice]:
        """See `Learner.check_sizes`."""
        inputs, points = count_inputs(self, dataset.X_train), dataset.X_train.shape[0]
        if self.budget is not None:
            return []
        if "n_projections" in given and self.n_projections > inputs:
            raise InputError(
                f"--projection-dim is {self.n_projections:,}, but the projection has only "
                f"{inputs:,} inputs and cannot have more outputs; give at most {inputs:,}"
            )
        asked = self.n_prototypes
        if asked is not None and asked > points:
            raise InputError(
                f"--prototypes is {asked:,}, but the data has only {points:,} training points; "
                f"give at most {points:,}"
            )
        projections = self.projections_of(inputs)
        in_sets = dataset.predicts == "labels"
        floats_alone = in_sets and dataset.n_classes > MOST_CLASSES
        if not floats_alone and self.normalizer_kind != "l2":
            check_counts(
                features=dataset.n_features,
                projections=projections,
                prototypes=asked or default_prototypes(dataset.n_classes, in_sets=in_sets),
                classes=dataset.n_classes,
            )
        return []

    @property
    def planned_epochs(self) -> int:
        """Number of planned epochs in the last report."""
        if not self.target.is_optimized:
            return 1
        other = self.other_optimizer
        return self.epochs if other is None else int(other.planned_epochs(self))

    @property
    def learns_strangers(self) -> bool:
        """Whether training uses `strangers`."""
        return self.other_optimizer is None and self.target.is_optimized

    def stand_in_for(self, model: Model) -> Self:
        """Return a learner that learns again, with the RBF and W of a model of one class."""
        stand_in = super().stand_in_for(model)
        if not self.target.is_optimized:
            head = protonn_head(model, "a stand-in")
            stand_in.gamma, stand_in.init_projection = head.gamma, head.projection
        return stand_in

    @property
    def scores_are_logits(self) -> bool:
        """Whether training makes the scores logits."""
        return self.learns_logits
