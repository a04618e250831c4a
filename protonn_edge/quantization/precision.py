"""The precision of a model on the device: integers, or, for comparison, floats."""

from __future__ import annotations

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.quantization.float32 import Float32Model
from protonn_edge.quantization.registry import INTEGER_KINDS
from protonn_edge.quantization.to_integers import quantize

PRECISIONS = ("int8", "float32")

DeviceModel = IntegerChain | Float32Model


def precisions_of(model: Model) -> tuple[str, ...]:
    """Return the precisions in which a model can be built.

    Float builds neither compute features nor reject.
    """
    integers_alone = INTEGER_KINDS[model.head.kind].in_floats is None
    integers_alone = integers_alone or (model.feature_stage, model.rejection) != (None, None)
    return PRECISIONS[:1] if integers_alone else PRECISIONS


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
    in_floats = INTEGER_KINDS[model.head.kind].in_floats
    if in_floats is None:
        raise InputError(
            f"there are no float builds of {model.head.kind} models; build in int8, the default"
        )
    return in_floats(model, integers)
