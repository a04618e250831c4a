"""The precision of a model on the device: integers, or, for comparison, floats."""

from __future__ import annotations

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.quantization.float32 import Float32Model, float32_model
from protonn_edge.quantization.to_integers import quantize

PRECISIONS = ("int8", "float32")

DeviceModel = IntegerChain | Float32Model


def precisions_of(model: Model) -> tuple[str, ...]:
    """Return the precisions in which a model can be built.

    Float builds neither compute features nor reject.
    """
    plain = (model.feature_stage, model.rejection) == (None, None)
    return PRECISIONS if plain and isinstance(model.head, ProtoNNHead) else PRECISIONS[:1]


def device_model(model: Model, precision: str = "int8") -> DeviceModel:
    """Return the reference for the device's computation.

    Parameters
    ----------
    model : Model
        The float model.
    precision : {"int8", "float32"}
        Precision of the model's matrices on the device.

    Raises
    ------
    InputError
        As `quantize`; or if there is no float build of the model.
    """
    integers: IntegerChain = quantize(model)
    if precision != "float32":
        return integers
    if not isinstance(model.head, ProtoNNHead):
        raise InputError(
            f"there are no float builds of {model.head.kind} models; build in int8, the default"
        )
    return float32_model(model, integers)
