"""No signed integer overflows where an ``int`` has 16 bits, as on every AVR.

Bytes above 127 were shifted by 8 in an ``int``, and an average's wide pixels were multiplied in
one, by the C that an AVR without a multiplier runs. The compiler adds a check to each such
operation; one that fails stops the program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extension_parts import additions
from forest_factory import random_chain
from generated_programs import answers_in_bytes, compile_checked, predicting, printed_by_uno
from model_factory import random_inputs, random_pooling_model

from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

# Pixels that are 130 units wide.
WIDE = average_pooling((1, 131), (1, 131), (1, 130))

MODELS: dict[str, IntegerChain] = {
    "forest": random_chain(4, trees=4, depth=9, features=300, classes=12, share=1.0),
    **additions("ints of 16 bits"),
    "average pooling": quantize(random_pooling_model(WIDE, projections=4, prototypes=5)),
}


@needs_emulated_avr
@pytest.mark.parametrize("name", MODELS)
def test_no_overflow_of_an_int(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    Q = np.concatenate([random_inputs(2, 3, model), np.full((1, model.n_features), 255, np.uint8)])
    program = compile_checked(model, predicting(Q), tmp_path)
    expected = b"".join(answers_in_bytes(model, Q))
    assert printed_by_uno(program, len(expected)) == expected
