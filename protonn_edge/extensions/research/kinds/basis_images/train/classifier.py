"""Basis images as a scikit-learn estimator: a student, and a network that reads its weights.

From labelled images, the estimator trains a teacher, basis images, and a student in a device's
integers. The student is a network; its last layer outputs the weights of the basis images.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from protonn_edge.extensions.research.kinds.basis_images.parameters import (
    BasisImagesParameters,
)
from protonn_edge.extensions.research.kinds.basis_images.train import images as basis
from protonn_edge.features.convolution.integers import SIDES
from protonn_edge.features.convolution.train.layers import Normalization, Rectifier, TrainedLayer
from protonn_edge.features.convolution.train.learning import (
    Layers,
    NetworkSpec,
    OnEpoch,
    Training,
    reporting,
    untrained_layers,
)
from protonn_edge.features.convolution.train.network import Network, innermost, layers_of
from protonn_edge.features.convolution.train.notation import (
    MOST_CHANNELS,
    ConvolutionLayout,
    Layout,
    PoolingLayout,
    read_network,
    shapes_of,
)
from protonn_edge.features.convolution.train.request import ConvolutionRequest
from protonn_edge.features.convolution.train.rounding import integer_stages
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.features import FeatureData
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.searched import Among, SearchSpec, SearchTask
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.shapes import ImageShape, Shape
from protonn_edge.system.checks import check, check_most

_FIRST_DEVIATION = basis.LARGEST_VALUE / 4  # initial deviation of a weight, whose mean is 0
_TEACHERS = 4  # factor on the channels


def student_layouts(
    layouts: tuple[Layout, ...], shape: ImageShape, weights: int
) -> tuple[Layout, ...]:
    """Return the layers, followed by one that computes `weights` weights.

    The kernels of the last layer cover the whole remaining image; if no kernel has that size, each
    channel is averaged first.

    Raises `InputError` if a layer cannot have this many channels, or nothing is left of the image.
    """
    check_most(
        "basis images and their parts",
        weights,
        MOST_CHANNELS,
        "weights",
        "use fewer images or parts",
    )
    height, width, _ = list(shapes_of(layouts, shape))[-1]
    if height == width and height in SIDES:
        return (*layouts, ConvolutionLayout(weights, (height, width)))
    averages = PoolingLayout(average=True, everywhere=True)
    return (*layouts, averages, ConvolutionLayout(weights, (1, 1)))


def wider(text: str) -> str:
    """Return the text of layers with four times as many channels, or as many as possible."""
    side, layouts = read_network(text)
    layers = [
        replace(each, channels=min(MOST_CHANNELS, _TEACHERS * each.channels))
        if isinstance(each, ConvolutionLayout) and each.channels
        else each
        for each in layouts
    ]
    return ",".join([f"average{side}"] * (side > 1) + [str(each) for each in layers])


def student_layers(
    layouts: tuple[Layout, ...], generator: np.random.Generator
) -> tuple[TrainedLayer, ...]:
    """Return random layers; the last layer clamps values on both sides."""
    *layers, last, _ = layers_of(layouts, generator)
    assert isinstance(last, Normalization)
    ones = np.ones_like(last.gain)
    centred = replace(
        last,
        gain=ones * np.float32(_FIRST_DEVIATION),
        offset=ones * np.float32(basis.LARGEST_VALUE / 2),
    )
    return (*layers, centred, Rectifier(basis.LARGEST_VALUE))


@dataclass(frozen=True)
class WantedImages:
    """The basis images that are to be learned.

    Raises `InputError` if the grid is not two numbers from 1 on.
    """

    student: NetworkSpec  # the student without its last layer, and the training of both
    count: int  # M
    grid: Shape = (1, 1)  # P, Q: each image has P x Q parts with a weight each
    similarity: float = 0.0  # weight of the similarity loss
    learned: bool = True  # whether images are learned or stay noise

    def __post_init__(self) -> None:
        sides = list(self.grid)
        check(
            len(sides) == 2 and min(sides) >= 1,
            "image_parts",
            self.grid,
            "a number of rows and a number of columns, each 1 or more, such as (2, 2)",
        )

    @property
    def whole_student(self) -> NetworkSpec:
        """The student with its last layer, which computes the weights; see `student_layouts`."""
        weights = self.count * self.grid[0] * self.grid[1]
        layouts = student_layouts(self.student.layouts, self.student.shape, weights)
        return replace(self.student, layouts=layouts)


@dataclass(frozen=True, eq=False)
class TaughtStudent:
    """A student, with the teacher and images used to train it, which stay on the host."""

    network: Network  # on integers, with the images as its head
    wanted: NetworkSpec  # the student with its last layer

    @property
    def head(self) -> basis.BasisImages:
        """Images and teacher."""
        head = self.network.head
        assert isinstance(head, basis.BasisImages)
        return head

    @property
    def layers(self) -> Layers:
        """The device's layers, after average pooling, that compute the weights."""
        return integer_stages(self.network.layers, self.wanted.shape, BYTE_MAXIMUM)

    def weights(self, points: Float32) -> Float32:
        """Return the weights (n, M * P * Q), -1 to 1, of raw points (n, H W)."""
        return basis.weights_of(self._values(points))

    def sums(self, points: Float32) -> Float32:
        """Return the weighted sums (n, D) of the basis images for raw points (n, H W)."""
        return self.head.sums(self._values(points))

    def predict(self, points: Float32) -> Indices:
        """Return the classes (n,) that the teacher assigns to the weighted sums."""
        classes: Indices = self.head.scores(self._values(points)).argmax(axis=1)
        return classes

    def _values(self, points: Float32) -> Float32:
        return self.network.features(innermost(self.wanted.to_bytes(points)))


def learned_teacher(
    wanted: NetworkSpec,
    points: Float32,
    y: Indices,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
) -> basis.NetworkTeacher:
    """Return a convolutional network in floats, trained on raw points (n, H W)."""
    generator = np.random.default_rng(seed)
    images = wanted.images(points, y, weights)
    head = DenseNetwork.random((wanted.n_features, images.Y.shape[1]), generator, 1.0)
    network = Network(layers_of(wanted.layouts, generator), head)
    Training(images, wanted.schedule, generator, callback).in_floats(network)
    return basis.NetworkTeacher.of(network, wanted.shape[:2])


def learned_student(
    wanted: WantedImages,
    teacher: basis.Teacher,
    points: Float32,
    y: Indices,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
) -> TaughtStudent:
    """Train a student and basis images together, for a teacher that does not change.

    Points, classes, weights, seed and callback are as in `learned_network`.

    Raises `InputError` if the teacher has other classes, the student's last layer is impossible, or
    all images end up with the same weights.
    """
    generator = np.random.default_rng([seed, 1])
    student = wanted.whole_student
    images = student.images(points, y, weights)
    check(
        images.Y.shape[1] == teacher.n_classes,
        "the teacher",
        f"{teacher.n_classes} classes",
        f"the {images.Y.shape[1]} of the points",
        "use a teacher with the same classes",
    )
    head = basis.BasisImages.random(
        teacher,
        wanted.count,
        basis.Parts.of_grid(teacher.shape, wanted.grid),
        generator,
        similarity=wanted.similarity,
        learned=wanted.learned,
    )
    network = Network(student_layers(student.layouts, generator), head)
    training = Training(images, student.schedule, generator, callback)
    return TaughtStudent(training.rounded(network, student.bits), student)


def _stage(taught: TaughtStudent) -> Features:
    return taught.wanted.stage(taught.layers)


@dataclass(kw_only=True, eq=False, repr=False)
class BasisImagesClassifier(BasisImagesParameters, DenseClassifier):
    """A student that weights basis images, and a network that classifies by the weights [1]_.

    A teacher, a larger network, is trained on images and then fixed. Next, basis images are learned
    together with a small student, which computes a weight from -1 to 1 for each of them, so that
    the teacher classifies the weighted sums correctly. Finally, a network with two hidden layers,
    the extension, is trained on the weights. The device gets student and extension; teacher and
    basis images stay on the host.

    The parameters of a network apply to the extension. `features` are the student's layers except
    the last one, which computes the weights. `image_shape` and `features` are required.

    References
    ----------
    .. [1] H. Menon, "Weighted Basis Images: Learning Alternative Data Representations", 2021.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge import BasisImagesClassifier
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

    is_slow: ClassVar[bool] = True

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space of the extension and the number of images."""
        extension = super().searched(task)
        return replace(
            extension,
            parameters={**extension.parameters, "basis_images": Among((8, 16, 32, 64))},
            starts=tuple({**each, "basis_images": cls.basis_images} for each in extension.starts),
            columns={**extension.columns, "M": ("basis_images",)},
        )

    def features_for(self, given: FeatureData) -> Features | None:
        """Return the student; learn it and the images from classes, and keep these and the teacher.

        Without classes, its weights are random.
        """
        if not isinstance(self.asked, ConvolutionRequest):  # and will be refused
            return super().features_for(given)
        if given.y is not None:
            self.taught = self._taught_student(given)
            return _stage(self.taught)
        if isinstance(self.teacher, TaughtStudent):
            return _stage(self.teacher)
        student = self.wanted_images(given).whole_student
        return student.stage(untrained_layers(student))

    def _taught_student(self, given: FeatureData) -> TaughtStudent:
        if isinstance(self.teacher, TaughtStudent):
            return self.teacher
        wanted = self.wanted_images(given)
        teacher = self._teacher_for(wanted.student, given)
        done = reporting(self.network_callback, "student", self.network_epochs)
        return learned_student(
            wanted, teacher, given.points, given.y, given.weights, seed=given.seed, callback=done
        )

    @property
    def _student(self) -> ConvolutionRequest:
        asked = self.asked
        assert isinstance(asked, ConvolutionRequest)  # others are refused before
        return asked

    def wanted_images(self, given: FeatureData) -> WantedImages:
        """Return the student and the images that are to be learned from raw points."""
        student = self._student.network(self, given)
        grid = self.image_parts or (1, 1)
        return WantedImages(student, self.basis_images, grid, float(self.similarity))

    def _teacher_for(self, student: NetworkSpec, given: FeatureData) -> basis.Teacher:
        teacher = self.teacher
        if isinstance(teacher, str | None):
            layers = wider(self._student.layers) if teacher is None else teacher
            settings = self.frozen(network_epochs=self.teacher_epochs)
            wanted = replace(self._student, layers=layers).network(settings, given)
            done = reporting(self.network_callback, "teacher", self.teacher_epochs)
            return learned_teacher(
                wanted, given.points, given.y, given.weights, seed=given.seed, callback=done
            )
        if hasattr(teacher, "forward"):
            found: basis.Teacher = teacher
            return found
        assert isinstance(student.pixels, PixelScale)  # windows are refused before
        return basis.EstimatorTeacher.of(teacher, student.image_shape, student.pixels)

    def learn(self, data: TrainingSet) -> Learned:
        """Learn the extension; see `DeviceClassifier.learn`."""
        learned = super().learn(data)
        of_teacher = {"teacher_parameters": self.taught.head.teacher.n_parameters}
        return replace(learned, facts={**learned.facts, **of_teacher})

    def _keep(self, learned: Learned, data: TrainingSet, settings: Self, *, n_train: int) -> None:
        self.taught_ = settings.taught
        super()._keep(learned, data, settings, n_train=n_train)
