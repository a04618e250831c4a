"""Two weights of -7..7 in a byte: the same sums as with a byte each, in half the flash."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from generated_programs import assert_equal_to_reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model_factory import random_inputs, tiny_integer_model, tiny_packed_model
from plans import plan_with

from protonn_edge.chips.cores import CORES, UNO_CORE, Core
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.kernels.matvec.kernels import Pass
from protonn_edge.codegen.kernels.matvec.loops import blocks_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.matvec import packed


def random_weights(seed: int, d: int, D: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-7, 8, (d, D)).astype(np.int8)


def model_of(weights: np.ndarray, bits: int, maximum: int) -> IntegerChain:
    """Return a model whose coordinates are spread over a byte, with prototypes at some of them."""
    d, D = weights.shape
    span = maximum * np.abs(weights.astype(np.int64)).sum(axis=1)
    largest = max(1, int(span.max()) >> (bits - 16))
    model = replace(
        tiny_integer_model(),
        inputs=InputQuantizer(np.zeros(D), np.ones(D), maximum),
        projection=weights,
        bias=-(maximum * weights.sum(axis=1, dtype=np.int64)) // 2,
        accumulator_bits=bits,
        multiplier=int(np.clip((200 << 16) // largest, 1, 30_000)),
        offset=np.full(d, 1 << 15),
        prototypes=np.zeros((d, 4), np.int8),
    )
    points = named_stages(model)["projection"].run(random_inputs(1, 4, model))
    return replace(model, prototypes=points.T.astype(np.int8))


@given(st.integers(0, 99), st.integers(1, 30), st.integers(1, 40))
def test_halves_of_bytes_are_the_weights(seed: int, d: int, D: int) -> None:
    weights = random_weights(seed, d, D)
    rows = packed(weights)
    assert rows.shape == (D, (d + 1) // 2)
    halves = np.stack([rows & 15, rows >> 4], axis=2).reshape(D, -1)
    assert (halves[:, :d].T.astype(int) - 8 == weights).all()
    assert not halves[:, d:].any()


@given(st.integers(1, 255), st.sampled_from([2, 3]))
def test_blocks_are_no_more_and_split_no_pair(outputs: int, width: int) -> None:
    blocks = blocks_of(outputs, width, 2)
    assert len(blocks) == len(blocks_of(outputs, width))
    assert sum(block.size for block in blocks) == outputs
    assert all(block.size % 2 == 0 for block in blocks[:-1])
    assert all(0 < block.bytes <= {2: 20, 3: 18}[width] for block in blocks)


@given(
    seed=st.integers(0, 999),
    d=st.integers(1, 23),
    D=st.integers(1, 60),
    bits=st.sampled_from([16, 24]),
    largest=st.sampled_from([1, 15, 63, 255]),
)
@example(seed=1, d=1, D=1, bits=16, largest=255)
@example(seed=2, d=22, D=60, bits=24, largest=255)
@settings(max_examples=5, deadline=None)
def test_packed_weights_give_the_sums_of_columns(
    seed: int, d: int, D: int, bits: int, largest: int
) -> None:
    """That assembly does, too, is in `conformance`."""
    maximum = largest if bits == 24 else min(largest, 65_000 // (7 * D))
    model = model_of(random_weights(seed, d, D), bits, max(1, maximum))
    for kernel in ("columns", "packed"):
        with host_program(model, plan_with(model, kernel), sanitize=True) as program:
            assert_equal_to_reference(program, model, random_inputs(seed, 20, model))


@pytest.mark.parametrize("core", [UNO_CORE, CORES["avr25"]])
def test_weights_of_7_at_most_may_be_packed(core: Core) -> None:
    def names(model: IntegerChain) -> set[str]:
        return {kernel.name for kernel in kernels_of(named_stages(model)["projection"], core)}

    model = tiny_packed_model()
    assert "packed" in names(model)
    for weight in (8, -8):
        weights = numbers_of(model)["projection"].copy()
        weights[0, 0] = weight
        assert "packed" not in names(replace(model, projection=weights))
    assert "packed" not in names(tiny_integer_model())


def test_half_a_byte_is_counted_for_a_weight() -> None:
    weights = random_weights(0, 5, 40)
    model = model_of(weights, 24, 63)
    others = numbers_of(model)["prototypes"].size + numbers_of(model)["labels"].size
    assert model.model_bytes == 3 * 40 + others
    columns, halves = (plan_with(model, kernel) for kernel in ("columns", "packed"))
    assert columns.table_bytes - halves.table_bytes == 2 * 40
    weights[0, 0] = 8
    assert replace(model, projection=weights).model_bytes == 5 * 40 + others


def test_two_weights_take_13_cycles_and_with_wide_sums_15() -> None:
    for width, pair, alone, around in ((2, 13, 7, 9), (3, 15, 8, 10)):
        for d in (1, 4, 5):
            (block,) = blocks_of(d, width, 2)
            listing = Pass("packed", block, random_weights(0, d, 2), 63, "", "").listing
            each = listing.path("input", ["input"], {"input": 1})
            assert each == around + pair * (d // 2) + alone * (d % 2)
