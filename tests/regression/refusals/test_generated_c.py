"""A model whose weights are all 0 gives C that compiles without a warning, as any other does."""

from __future__ import annotations

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from chains import numbers_of, replace
from generated_programs import assert_equal_to_reference, write_c
from model_factory import random_inputs, tiny_integer_model
from plans import of_weights_for, plan_with

from protonn_edge.codegen.host import host_program
from protonn_edge.kernels.matvec.kernels import KERNELS

ZEROED = [("projection",), ("labels",), ("projection", "prototypes", "labels")]


def model_without(names):
    model = tiny_integer_model()
    return replace(model, **{name: 0 * numbers_of(model)[name] for name in names})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("names", ZEROED)
def test_it_compiles_on_the_host(names, kernel):
    model = of_weights_for(kernel, model_without(names))
    with host_program(model, plan_with(model, kernel)) as program:  # with -Wall ... -Werror
        assert_equal_to_reference(program, model, random_inputs(0, 20, model))


@needs_avr_gcc
@pytest.mark.parametrize("kernel", KERNELS)
def test_it_compiles_for_the_uno(tmp_path, kernel):
    model = of_weights_for(kernel, model_without(("projection",)))
    write_c(model, tmp_path, plan_with(model, kernel))
    flags = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "pnn_model.c")
    text = '#include "pnn_model.h"\nint main(void)\n{\n    return PNN_FEATURES & 1;\n}\n'
    assert compile_text(text, tmp_path / "program.elf", *flags).is_file()
    assert not np.any(numbers_of(model)["projection"])
