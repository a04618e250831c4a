"""A model with the arithmetic of its firmware: one object from the model's file to what is written.

Builds, exports, trials and certificates need both forms: points to try and advice come from the
float model, everything that a device computes from the chain.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.model.file import load_model
from protonn_edge.model.head import Remedies, remedies_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.watch import extended


@dataclass(frozen=True, eq=False)
class DeviceModel:
    """A float model, and the chain that its firmware computes."""

    floats: Model
    chain: IntegerChain

    @property
    def remedies(self) -> Remedies:
        """What to try if it does not fit a board."""
        return remedies_of(self.floats)


def with_integers(model: Model | DeviceModel, extensions: Collection[str] = ()) -> DeviceModel:
    """Return a model with its integers, as firmware with some extensions needs them.

    A `DeviceModel` is returned as it is. Raises `InputError` if there are no such integers.
    """
    if isinstance(model, DeviceModel):
        return model
    chain = quantize(model)
    return DeviceModel(model, extended(chain, model, extensions))


def load_device_model(path: Path | str, extensions: Collection[str] = ()) -> DeviceModel:
    """Read a model file, and return it with its integers; see `load_model`, `with_integers`."""
    model = load_model(path)
    return with_integers(model, extensions)
