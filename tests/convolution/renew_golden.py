"""Write the golden files anew: ``python tests/convolution/renew_golden.py``; read what differs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from convolution_factory import random_convolution, random_model

from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.quantization import quantize
from protonn_edge.stages.average_pooling.areas import Areas
from protonn_edge.stages.average_pooling.integers import IntegerAveragePooling
from protonn_edge.stages.convolution.stage import Convolutions
from protonn_edge.stages.pooling.integers import IntegerPooling
from protonn_edge.system.files import write_atomically

GOLDEN = Path(__file__).parent / "golden"
CHOICES = {"convolution": "columns", "convolution_2": "packed", "convolution_3": "unrolled"}


def rendered() -> dict[str, str]:
    """Return the files of a small network, each of whose convolutions has another kernel."""
    averages = IntegerAveragePooling(Areas((12, 12), (12, 12), (6, 6)), 15, cuts=True)
    layers = (
        random_convolution(0, (6, 6, 1), 4, padded=True),
        random_convolution(1, (6, 6, 4), 3, 1, weight_bits=4, to_even=True),
        random_convolution(2, (6, 6, 3), depthwise=True, maximum=255, shift=11),
        IntegerPooling((4, 4, 3), (2, 2), "maximum", 255),
        IntegerPooling((2, 2, 3), (2, 2), "average", 255),
    )
    model = quantize(random_model(Convolutions(layers, averages)))
    return render_c(model, plan_of(model, CHOICES))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in rendered().items():
        write_atomically(GOLDEN / name, text)
