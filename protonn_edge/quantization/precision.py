"""What a model becomes on the device: integers, or, for comparison, floats."""

from __future__ import annotations

from protonn_edge.model import ProtoNNModel
from protonn_edge.quantization.float32_model import Float32Model, float32_model
from protonn_edge.quantization.integer_model import IntegerModel
from protonn_edge.quantization.quantizer import quantize

PRECISIONS = ("int8", "float32")

DeviceModel = IntegerModel | Float32Model


def precisions_of(model: ProtoNNModel) -> tuple[str, ...]:
    """Return the precisions in which a model can be built.

    Floats neither make features nor reject.
    """
    integers_alone = (model.feature_stage, model.rejection)
    return PRECISIONS[:1] if any(part is not None for part in integers_alone) else PRECISIONS


def device_model(model: ProtoNNModel, precision: str = "int8") -> DeviceModel:
    """Return the reference of what the device computes.

    Parameters
    ----------
    model : ProtoNNModel
        The float model.
    precision : {"int8", "float32"}
        That of W, B and Z on the device.

    Raises
    ------
    InputError
        As `quantize` and `float32_model`.
    """
    integer_model = quantize(model)
    return float32_model(model, integer_model) if precision == "float32" else integer_model
