"""The paper's experiments with basis images, at this chip's scale; see `basis_images.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from printing import Record

from protonn_edge.data.dataset import Dataset
from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier,
    TaughtStudent,
    WantedImages,
    learned_student,
    learned_teacher,
)
from protonn_edge.extensions.research.kinds.basis_images.train.images import Teacher
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.train.learning import NetworkSpec, OnEpoch
from protonn_edge.features.convolution.train.network import Network, innermost
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.learn.features import FeatureData
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.quantization import quantize
from protonn_edge.system.rounding import one_thread

POINTS = 4_000
_FOLLOWED = 2_000  # test points on which accuracy by epoch is measured

Found = tuple[Record, TaughtStudent]

_POINTS_AT_ONCE = 1_000


@dataclass(frozen=True, eq=False)
class Task:
    """Points, and the settings of teacher, student and extension.

    `of` takes those of `BasisImagesClassifier`, and `teacher_moved_share`, the images that move
    while the teacher is trained.
    """

    dataset: Dataset
    settings: Mapping[str, Any]
    moved_share: float
    X: NDArray[np.float32]
    y: NDArray[np.int64]

    @classmethod
    def of(cls, dataset: Dataset, settings: Mapping[str, Any], points: int | None = None) -> Self:
        """Return the task on all training points, or the first ones."""
        own = {key: value for key, value in settings.items() if key != "teacher_moved_share"}
        X, y = dataset.X_train[:points], dataset.y_train[:points]
        moved = settings["teacher_moved_share"]
        return cls(dataset, own, moved, np.asarray(X, np.float32), np.asarray(y, np.int64))

    def wanted(self, **changed: Any) -> WantedImages:
        """Return the student and images of the settings, some of them changed."""
        classifier = BasisImagesClassifier(**{**self.settings, **changed})
        return classifier.frozen().wanted_images(FeatureData(self.X))

    @property
    def teacher_wanted(self) -> NetworkSpec:
        """The teacher."""
        layers, epochs = self.settings["teacher"], self.settings["teacher_epochs"]
        wanted: NetworkSpec = self.wanted(
            features=f"conv:{layers}", network_epochs=epochs, network_moved_share=self.moved_share
        ).student
        return wanted

    def teacher(self) -> Teacher:
        """Train the teacher."""
        with one_thread():
            return learned_teacher(self.teacher_wanted, self.X, self.y, None, seed=0)

    def student(
        self,
        teacher: Teacher,
        *,
        seed: int,
        learned: bool = True,
        callback: OnEpoch | None = None,
        **changed: Any,
    ) -> TaughtStudent:
        """Train a student and its images."""
        wanted = replace(self.wanted(**changed), learned=learned)
        with one_thread():
            return learned_student(
                wanted, teacher, self.X, self.y, None, seed=seed, callback=callback
            )

    def extension(self, taught: TaughtStudent) -> BasisImagesClassifier:
        """Train the extension."""
        settings = {**self.settings, "teacher": taught}
        classifier = BasisImagesClassifier(random_state=0, **settings)
        classifier.fit(self.X, self.y)
        return classifier

    def record(self, taught: TaughtStudent, extension: BasisImagesClassifier) -> Record:
        """Return what all of them have right of the test points, and how large they are."""
        X, y = np.asarray(self.dataset.X_test, np.float32), self.dataset.y_test
        model = extension.to_model()
        assert isinstance(model.head, DenseHead)
        integers = quantize(model)
        right = integers.predict(integers.quantize(X)) == y
        teacher = taught.head.teacher
        of_student = sum(
            layer.weights.size + layer.bias.size
            for layer in taught.layers
            if isinstance(layer, IntegerConvolution)
        )
        learned: list[NDArray[Any]] = [*model.head.weights, *model.head.biases]
        of_extension = sum(each.size for each in learned)
        return {
            "accuracy": float(np.mean(right)),
            "teacher_accuracy": _share(_teacher_predictions(teacher, self.teacher_wanted, X), y),
            "student_teacher_accuracy": _share(taught.predict(X), y),
            "parameters": int(of_student + of_extension),
            "student_parameters": int(of_student),
            "extension_parameters": int(of_extension),
            "teacher_parameters": teacher.n_parameters,
        }


_SMALL = {
    "image_shape": (28, 28),
    "teacher": "average2,12x3,max2,24x3,48x3",
    "teacher_epochs": 10,
    "teacher_moved_share": 0.5,
    "features": "conv:average2,6x3,max2,8x3",
    "network_epochs": 12,
    "network_moved_share": 0.5,
    "basis_images": 32,
    "similarity": 0.1,
    "epochs": 15,
}
_SPOKEN = {
    **_SMALL,
    "image_shape": (13, 20),
    "teacher": "16x3,max2,32x3,average",
    "teacher_epochs": 20,
    "teacher_moved_share": 0.0,
    "features": "conv:8x3,max2,12x3",
    "network_epochs": 20,
    "network_moved_share": 0.0,
    "epochs": 20,
}
_COUNTS = (2, 4, 8, 16, 32, 64)
_STUDENTS = {
    "small": "average2,4x3,max2,6x3",
    "plain": "average2,6x3,max2,8x3",
    "plain, then averages": "average2,6x3,max2,16x3,average",
    "deeper": "average2,6x3,8x3,max2,12x3",
    "depthwise": "average2,8x3,dw3,12x1,max2,dw3,16x1",
}


def _of_images(task: Task) -> Iterator[Found]:
    teacher = task.teacher()
    for learned in (True, False):
        for count in _COUNTS:
            name = f"{count}, {'learned' if learned else 'noise'}"
            yield _found(task, teacher, name, learned=learned, basis_images=count)


def _images(dataset: Dataset) -> Iterator[Found]:
    return _of_images(Task.of(dataset, _SMALL, POINTS))


def _spoken(dataset: Dataset) -> Iterator[Found]:
    return _of_images(Task.of(dataset, _SPOKEN))


def _students(dataset: Dataset) -> Iterator[Found]:
    task = Task.of(dataset, _SMALL, POINTS)
    teacher = task.teacher()
    for name, layers in _STUDENTS.items():
        yield _found(task, teacher, name, features=f"conv:{layers}")


def _similarity(dataset: Dataset) -> Iterator[Found]:
    task = Task.of(dataset, _SMALL, POINTS)
    teacher, student = task.teacher(), task.wanted().whole_student
    X, y = np.asarray(dataset.X_test, np.float32)[:_FOLLOWED], dataset.y_test[:_FOLLOWED]
    images = innermost(student.to_bytes(X))
    for similarity in (0.0, 0.1, 1.0):
        followed: list[float] = []

        def follow(_: int, __: float, network: Network, to: list[float] = followed) -> None:
            unit = 1 / 255 if network.unit == 1.0 else 1.0  # in floats first, then on integers
            scores = network.head.scores(network.features(images * np.float32(unit)))
            to.append(_share(scores.argmax(axis=1), y))

        name = f"similarity {similarity:g}"
        record, taught = _found(task, teacher, name, callback=follow, similarity=similarity)
        yield {**record, "accuracies": followed}, taught


def _parts(dataset: Dataset) -> Iterator[Found]:
    task = Task.of(dataset, _SMALL, POINTS)
    teacher = task.teacher()
    for count, parts in ((8, (1, 1)), (32, (1, 1)), (8, (2, 2)), (4, (1, 1)), (4, (3, 3))):
        name = f"{count} x {parts[0]}x{parts[1]}"
        yield _found(task, teacher, name, basis_images=count, image_parts=parts)


def _pictures(dataset: Dataset) -> Iterator[Found]:
    task = Task.of(dataset, _SMALL, POINTS)
    yield _found(task, task.teacher(), "32 images")


def _found(task: Task, teacher: Teacher, name: str, **changed: Any) -> Found:
    taught = task.student(teacher, seed=0, **changed)
    settings = {**task.settings, **changed}
    record = {
        "name": name,
        "features": settings["features"],
        "images": settings["basis_images"],
        "parts": settings.get("image_parts") or (1, 1),
        "learned": changed.get("learned", True),
        **task.record(taught, task.extension(taught)),
    }
    return record, taught


def _share(answers: NDArray[Any], y: NDArray[Any]) -> float:
    return float(np.mean(answers == y))


EXPERIMENTS: dict[str, Callable[[Dataset], Iterator[Found]]] = {
    "images": _images,
    "spoken-images": _spoken,
    "students": _students,
    "similarity": _similarity,
    "parts": _parts,
    "pictures": _pictures,
}


def _teacher_predictions(
    teacher: Teacher, wanted: NetworkSpec, points: NDArray[Any]
) -> NDArray[np.int64]:
    """Return what a teacher takes raw points (n, H W) for, whose images are made as `wanted`'s."""
    parts = []
    for start in range(0, len(points), _POINTS_AT_ONCE):
        images = wanted.to_bytes(points[start : start + _POINTS_AT_ONCE]).astype(np.float32)
        images /= np.float32(BYTE_MAXIMUM)
        scores, _ = teacher.forward(images.reshape(len(images), -1))
        parts.append(scores.argmax(axis=1))
    return np.concatenate(parts)
