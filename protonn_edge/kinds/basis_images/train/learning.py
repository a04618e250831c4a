"""From labelled images to a teacher, basis images and a student on a device's integers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.train.heads import MatrixHead
from protonn_edge.features.convolution.train.integers import integer_stages
from protonn_edge.features.convolution.train.learning import Layers, Wanted
from protonn_edge.features.convolution.train.network import Network, layers_of
from protonn_edge.features.convolution.train.training import OnEpoch, train_in_floats, trained
from protonn_edge.kinds.basis_images.train.head import BasisImages, weights_of
from protonn_edge.kinds.basis_images.train.parts import Parts
from protonn_edge.kinds.basis_images.train.students import student_layers, student_layouts
from protonn_edge.kinds.basis_images.train.teachers import NetworkTeacher, Teacher
from protonn_edge.training.points import Float32, Indices

_AT_ONCE = 1_000  # points whose scores are computed together


@dataclass(frozen=True)
class WantedImages:
    """The basis images that are to be learned.

    Raises `InputError` if the grid is not two numbers from 1 on.
    """

    student: Wanted  # the student without its last layer, and how it and the images are trained
    count: int  # M
    grid: Shape = (1, 1)  # P, Q: each image has P x Q parts with a weight each
    similarity: float = 0.0  # what the similarity loss counts
    learned: bool = True  # whether images are learned; else they stay noise

    def __post_init__(self) -> None:
        sides = list(self.grid)
        if len(sides) != 2 or min(sides) < 1:
            raise InputError(
                f"the parts of an image are {self.grid}; they must be a number of rows and one of "
                "columns, each 1 or more, such as (2, 2)"
            )

    @property
    def whole_student(self) -> Wanted:
        """The student with its last layer, which gives the weights.

        Raises `InputError` if that layer is not possible; see `student_layouts`.
        """
        weights = self.count * self.grid[0] * self.grid[1]
        layouts = student_layouts(self.student.layouts, self.student.shape, weights)
        return replace(self.student, layouts=layouts)


@dataclass(frozen=True, eq=False)
class TaughtStudent:
    """A student, and the teacher and images that it was learned with, which stay on the host."""

    network: Network  # on integers, with the images as its head
    wanted: Wanted  # the student with its last layer

    @property
    def head(self) -> BasisImages:
        """Images and teacher."""
        head = self.network.head
        assert isinstance(head, BasisImages)
        return head

    @property
    def layers(self) -> Layers:
        """What the device computes the weights with, behind the averages."""
        return integer_stages(self.network.layers, self.wanted.shape, BYTE_MAXIMUM)

    def weights(self, points: Float32) -> Float32:
        """Return the weights (n, M * P * Q), -1 to 1, of raw points (n, H W)."""
        return weights_of(self._values(points))

    def sums(self, points: Float32) -> Float32:
        """Return the weighted sums (n, D) of the basis images for raw points (n, H W)."""
        return self.head.sums(self._values(points))

    def predict(self, points: Float32) -> Indices:
        """Return what the teacher takes the weighted sums for, (n,)."""
        found: Indices = self.head.scores(self._values(points)).argmax(axis=1)
        return found

    def _values(self, points: Float32) -> Float32:
        images = np.moveaxis(self.wanted.to_bytes(points), 0, -1)
        return self.network.features(np.ascontiguousarray(images, np.float32))


def learned_teacher(
    wanted: Wanted,
    points: Float32,
    y: Indices,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
) -> NetworkTeacher:
    """Return a convolutional network in floats, trained on raw points (n, H W)."""
    generator = np.random.default_rng(seed)
    images = wanted.images(points, y, weights)
    head = MatrixHead.random(wanted.n_features, images.Y.shape[1], generator)
    network = Network(layers_of(wanted.layouts, generator), head)
    train_in_floats(network, images, wanted.schedule, generator=generator, callback=callback)
    return NetworkTeacher.of(network, wanted.shape)


def learned_student(
    wanted: WantedImages,
    teacher: Teacher,
    points: Float32,
    y: Indices,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
) -> TaughtStudent:
    """Train a student and basis images together, for a teacher that does not change.

    - `points` (n, H W): raw images.
    - `y` (n,): class indices.
    - `weights` (n,): what each image counts, 1 on average.
    - `seed`: everything random follows from it.
    - `callback`: called after each epoch with its number, the mean loss, and the network.

    Raises `InputError` if the teacher has other classes, the student's last layer is not possible,
    or all images have the same weights in the end.
    """
    generator = np.random.default_rng([seed, 1])
    student = wanted.whole_student
    images = student.images(points, y, weights)
    if images.Y.shape[1] != teacher.n_classes:
        raise InputError(
            f"the teacher has {teacher.n_classes} classes, the points have {images.Y.shape[1]}; "
            "use a teacher of the same classes"
        )
    head = BasisImages.random(
        teacher,
        wanted.count,
        Parts.of_grid(teacher.shape, wanted.grid),
        generator,
        similarity=wanted.similarity,
        learned=wanted.learned,
    )
    network = Network(student_layers(student.layouts, generator), head)
    found, _ = trained(
        network, images, student.schedule, student.bits, generator=generator, callback=callback
    )
    return TaughtStudent(found, student)


def teacher_predictions(teacher: Teacher, wanted: Wanted, points: Float32) -> Indices:
    """Return what a teacher takes raw points (n, H W) for, whose images are made as `wanted`'s."""
    parts = []
    for start in range(0, len(points), _AT_ONCE):
        images = wanted.to_bytes(points[start : start + _AT_ONCE]).astype(np.float32)
        images /= np.float32(BYTE_MAXIMUM)
        scores, _ = teacher.forward(images.reshape(len(images), -1))
        parts.append(scores.argmax(axis=1))
    return np.concatenate(parts)
