"""What a device may watch of its answers, for an extension.

A float model has statistics of its answers, and the integer chain of firmware that compares answers
with them has a watch. Neither changes an answer, nor the hash of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from protonn_edge.model.features import Features
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import additions_to

_Chain = TypeVar("_Chain")  # of integer stages


@dataclass(frozen=True)
class DeviceForm:
    """A form of an integer model that firmware with an extension has in place of it."""

    choice: str  # by which a plan shows it
    # of an integer model and its float model; raises `InputError` if it is impossible
    of: Callable[[Any, Any], Any]


class WatchCost(NamedTuple):
    """The cost of a watch: cycles of the compiler's code, and bytes."""

    cycles: int = 0  # on average
    code: int = 0  # flash
    tables: int = 0  # flash
    state: int = 0  # SRAM


class AnswerWatch(Protocol):
    """What watches the answers of a device."""

    kernel: ClassVar[str]  # of the decision, in the plan of a model that is watched
    template: ClassVar[str]  # in ``templates/``

    @property
    def shifted_bytes(self) -> int:
        """Number of lowest bytes of a score that are left out."""

    @property
    def watched(self) -> range:
        """The inputs of the classifier that it watches."""

    @property
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


def device_forms() -> Mapping[str, DeviceForm]:
    """Return the forms of models that extensions have, by the names of these."""
    return additions_to("firmware", DeviceForm)


def forms_of(chain: _Chain, model: object) -> Iterator[_Chain]:
    """Yield an integer chain, and the forms that extensions make of it, where they are possible."""
    yield chain
    for form in device_forms().values():
        with suppress(InputError):
            yield form.of(chain, model)


def extended(chain: _Chain, model: object, names: Collection[str]) -> _Chain:
    """Return an integer chain as the firmware with some extensions needs it.

    Raises `InputError` if it is impossible.
    """
    for name, form in device_forms().items():
        chain = form.of(chain, model) if name in names else chain
    return chain
