"""Basis images as a scikit-learn estimator for devices: a student, and a network of its weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.convolution.train.learning import Wanted, untrained_layers
from protonn_edge.features.convolution.train.request import ConvolutionRequest
from protonn_edge.features.convolution.train.training import reporting
from protonn_edge.kinds.basis_images.parameters import BasisImagesParameters
from protonn_edge.kinds.basis_images.train.learning import (
    TaughtStudent,
    WantedImages,
    learned_student,
    learned_teacher,
)
from protonn_edge.kinds.basis_images.train.students import wider
from protonn_edge.kinds.basis_images.train.teachers import EstimatorTeacher, Teacher
from protonn_edge.kinds.dense.train.classifier import DenseClassifier
from protonn_edge.training.points import Float32, Indices
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Learned
from protonn_edge.training.refusals import Refusal
from protonn_edge.training.searched import Among, Searched, SearchTask


def _stage(taught: TaughtStudent) -> Convolutions:
    return Convolutions(taught.layers, taught.wanted.averages, taught.wanted.pixels)


@dataclass(kw_only=True, eq=False, repr=False)
class BasisImagesClassifier(BasisImagesParameters, DenseClassifier):
    """A student's weights of basis images, and a network that classifies from them [1]_.

    A teacher, a larger network, is trained on images and fixed. Basis images, and a small student
    that gives a weight from -1 to 1 for each of them, are then learned so that the teacher is right
    about the weighted sums. Last comes the extension: a network of the weights, with two hidden
    layers. A device gets student and extension; teacher and basis images stay on the host.

    Its further parameters are those of a network, which are the extension's. The student's layers
    are `features`; one that gives the weights is added. `image_shape` and `features` have to be
    given.

    References
    ----------
    .. [1] H. Menon, "Weighted Basis Images: Learning Alternative Data Representations", 2021.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.basis_images.train.classifier import BasisImagesClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = BasisImagesClassifier(
    ...     image_shape=(8, 8), features="conv:6x3,max2", teacher="12x3,max2", teacher_epochs=4,
    ...     basis_images=16, network_epochs=8, epochs=20, random_state=0,
    ... )
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.8)
    True
    >>> classifier.taught_.weights(digits.X_test).shape
    (450, 16)
    """

    taught: TaughtStudent = field(init=False)
    taught_: TaughtStudent = field(init=False)  # student, basis images and teacher

    refusals: ClassVar[tuple[Refusal, ...]] = (
        Refusal(
            lambda case: not isinstance(case.asked, ConvolutionRequest),
            "basis images need the layers of a student; give them with {features}, such as "
            "conv:8x3,max2",
        ),
    )

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:
        """Return what is drawn for the extension, and the number of images."""
        extension = super().searched(task)
        return replace(
            extension,
            parameters={**extension.parameters, "basis_images": Among((8, 16, 32, 64))},
            starts=tuple({**each, "basis_images": cls.basis_images} for each in extension.starts),
            columns={**extension.columns, "M": ("basis_images",)},
        )

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return a student with random weights."""
        if not isinstance(self.asked, ConvolutionRequest):  # which is refused
            return super().feature_stage_for(points, weights)
        if isinstance(self.teacher, TaughtStudent):
            return _stage(self.teacher)
        student = self.wanted_images(points, weights).whole_student
        return Convolutions(untrained_layers(student), student.averages, student.pixels)

    def learned_stage_for(
        self, points: Float32, y: Indices, weights: Float32 | None, *, seed: int
    ) -> FeatureStage | None:
        """Return the student, learned with the images, which are kept with the teacher."""
        if isinstance(self.teacher, TaughtStudent):
            self.taught = self.teacher
            return _stage(self.taught)
        wanted = self.wanted_images(points, weights)
        teacher = self._teacher_for(wanted.student, points, y, weights, seed)
        told = reporting(self.network_callback, "student", self.network_epochs)
        self.taught = learned_student(wanted, teacher, points, y, weights, seed=seed, callback=told)
        return _stage(self.taught)

    @property
    def _student(self) -> ConvolutionRequest:
        asked = self.asked
        assert isinstance(asked, ConvolutionRequest)  # or it is refused
        return asked

    def wanted_images(self, points: Float32, weights: Float32 | None) -> WantedImages:
        """Return the student and the images that are to be learned from raw points."""
        student = self._student.network(self, points, weights)
        grid = self.image_parts or (1, 1)
        return WantedImages(student, self.basis_images, grid, float(self.similarity))

    def _teacher_for(
        self, student: Wanted, points: Float32, y: Indices, weights: Float32 | None, seed: int
    ) -> Teacher:
        given = self.teacher
        if isinstance(given, str | None):
            layers = wider(self._student.layers) if given is None else given
            settings = self.frozen(network_epochs=self.teacher_epochs)
            wanted = replace(self._student, layers=layers).network(settings, points, weights)
            told = reporting(self.network_callback, "teacher", self.teacher_epochs)
            return learned_teacher(wanted, points, y, weights, seed=seed, callback=told)
        if hasattr(given, "forward"):
            teacher: Teacher = given
            return teacher
        return EstimatorTeacher.of(given, student.image_shape, student.pixels)

    def _train(self, prepared: PreparedPoints) -> Learned:
        settings = prepared.settings
        assert isinstance(settings, BasisImagesClassifier)
        self.taught_ = settings.taught
        learned = super()._train(prepared)
        of_teacher = {"teacher_parameters": self.taught_.head.teacher.n_parameters}
        return replace(learned, facts={**learned.facts, **of_teacher})
