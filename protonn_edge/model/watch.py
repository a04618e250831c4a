"""What a device may watch of its answers, for an extension.

A float model has statistics of its answers, and the integer chain of firmware that compares answers
with them has a watch. Neither changes an answer, nor the hash of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.features import Features
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import extensions

_Chain = TypeVar("_Chain")  # of integer stages


@dataclass(frozen=True)
class DeviceForm:
    """A form of an integer model that firmware with an extension has in place of it."""

    choice: str  # by which a plan shows it
    # of an integer model and its float model; raises `InputError` if it is impossible
    of: Callable[[Any, Any], Any]


class AnswerStatistics(ABC):
    """Statistics of answers, in a float model's units."""

    array: ClassVar[str]  # its name in a model file, which begins with the extension's

    @classmethod
    @abstractmethod
    def form(cls) -> DeviceForm:
        """Return the form of a model whose device compares its answers with them."""

    @classmethod
    @abstractmethod
    def of(cls, chain: Any, Q: NDArray[np.uint8]) -> AnswerStatistics | None:
        """Measure quantized points Q (n, features) not used in training; None if impossible."""

    @abstractmethod
    def to_array(self) -> NDArray[np.float64]:
        """Return all numbers in one vector, as a model file stores them."""

    @classmethod
    @abstractmethod
    def of_array(
        cls, array: NDArray[np.float64], n_classes: int, n_inputs: int
    ) -> AnswerStatistics:
        """Rebuild from the vector of `to_array`; `InputError` if it is wrong."""


class WatchCost(NamedTuple):
    """The cost of a watch: cycles of the compiler's code, and bytes."""

    cycles: int = 0  # on average
    code: int = 0  # flash
    tables: int = 0  # flash
    state: int = 0  # SRAM


class AnswerWatch(ABC):
    """What watches the answers of a device."""

    kernel: ClassVar[str]  # of the decision, in the plan of a model that is watched
    template: ClassVar[str]  # in ``templates/``
    shifted_bytes: int  # number of lowest bytes of a score that are left out
    watched: range  # the inputs of the classifier that it watches

    @property
    @abstractmethod
    def cost(self) -> WatchCost:
        """Its cost in a prediction."""


def watchable_inputs(features: Features | None, n_inputs: int) -> int:
    """Return the number of inputs of the classifier that a device can watch: all, or none.

    Of features, those of windows are watched, unless they come from layers, in parts.
    """
    if features is not None:
        layers = any(hasattr(each, "by_rows") for each in features.stages)
        if layers or not features.points.is_signal:
            return 0
    return n_inputs if n_inputs < 2**15 else 0


def statistics_kinds() -> list[type[AnswerStatistics]]:
    """Return the kinds of statistics that extensions keep."""
    kinds = (each.answer_statistics() for each in extensions())
    return [kind for kind in kinds if kind is not None]


def device_forms() -> Iterator[DeviceForm]:
    """Yield the forms of models that extensions have."""
    return (kind.form() for kind in statistics_kinds())


def forms_of(chain: _Chain, model: object) -> Iterator[_Chain]:
    """Yield an integer chain, and the forms that extensions make of it, where they are possible."""
    yield chain
    for form in device_forms():
        with suppress(InputError):
            yield form.of(chain, model)


def extended(chain: _Chain, model: object, names: Iterable[str]) -> _Chain:
    """Return an integer chain as the firmware with some extensions needs it.

    Raises `InputError` if it is impossible.
    """
    for kind in statistics_kinds():
        if kind.array.partition(".")[0] in names:
            chain = kind.form().of(chain, model)
    return chain


def statistics_of(chain: Any, Q: NDArray[np.uint8]) -> AnswerStatistics | None:
    """Return statistics of the answers to quantized points Q (n, features); None if impossible."""
    measured = (kind.of(chain, Q) for kind in statistics_kinds())
    return next((each for each in measured if each is not None), None)


def statistics_in(
    arrays: dict[str, Array], n_classes: int, n_inputs: int
) -> AnswerStatistics | None:
    """Return the statistics of which a model file has an array; `InputError` if it is wrong."""
    for kind in statistics_kinds():
        if kind.array in arrays:
            found: AnswerStatistics = kind.of_array(arrays[kind.array], n_classes, n_inputs)
            return found
    return None
