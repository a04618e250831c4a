"""Numbers are computed like functions of an input, which `instructions` compares with simavr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from protonn_edge.chips.avr.semantics import TRANSFER, KnownNumbers
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.arithmetic import Arithmetic
from protonn_edge.extensions.proof.forms import (
    Bit,
    Root,
    Unproven,
    bit_of,
    byte_of,
    single,
    variable,
)

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda domain, flags, a, b, c: domain.sum(flags, a, b, c, 1),
    "sub": lambda domain, flags, a, b, c: domain.sum(flags, a, b, c, -1),
    "cpc": lambda domain, flags, a, b, c: domain.sum(flags, a, b, c, -1, chain=True),
    "mul": lambda domain, flags, a, b, _: domain.product(flags, a, b, (False, False)),
    "muls": lambda domain, flags, a, b, _: domain.product(flags, a, b, (True, True)),
    "mulsu": lambda domain, flags, a, b, _: domain.product(flags, a, b, (True, False)),
    "ror": lambda domain, flags, a, _, c: domain.halved(flags, a, c, signed=False),
    "asr": lambda domain, flags, a, _, __: domain.halved(flags, a, 0, signed=True),
    "com": lambda domain, _, a, __, ___: domain.complement(a),
    "and": lambda domain, _, a, b, __: domain.both(a, b),
    "or": lambda domain, _, a, b, __: domain.either(a, b),
    "eor": lambda domain, _, a, b, __: domain.exclusive(a, b),
    "swap": lambda domain, _, a, __, ___: domain.swapped(a),
    "tst": lambda domain, flags, a, _, __: domain.set_signs(flags, a),
    "bst": lambda domain, _, a, __, ___: domain.flag_of(a, 5),
    "bld": lambda domain, _, a, __, c: domain.with_flag(a, 3, c),
    "cpse": lambda domain, _, a, b, __: domain.equal(a, b),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_numbers_and_functions_of_an_input_are_equal(name: str) -> None:
    lanes = Root("lane", np.arange(300))
    rng = np.random.default_rng(0)
    drawn = np.where(rng.random((3, 300)) < 0.4, rng.choice([0, 127, 128, 255], (3, 300)),
                     rng.integers(0, 256, (3, 300)))  # fmt: skip
    a, b, bits = drawn[0], drawn[1], drawn[2] & 1
    b[:40] = a[:40]
    arithmetic = Arithmetic(Algebra())
    inputs = [byte_of(single(lanes, a), 0), byte_of(single(lanes, b), 0), bit_of(lanes, bits == 1)]
    flags: list[Any] = [inputs[2]] * (TRANSFER + 2)
    results = _listed(OPERATIONS[name](arithmetic, flags, *inputs))
    made = [_over(each, arithmetic) for each in (*results, *flags[:TRANSFER])]
    for lane in range(300):
        plain: list[Any] = [int(bits[lane])] * (TRANSFER + 2)
        numbers = int(a[lane]), int(b[lane]), int(bits[lane])
        result = _listed(OPERATIONS[name](KnownNumbers(), plain, *numbers))
        expected = [0 if each is None else each for each in (*result, *plain[:TRANSFER])]
        assert [int(each[lane]) for each in made] == expected, (name, numbers)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _over(value: Any, arithmetic: Arithmetic) -> np.ndarray:
    """Return a byte or a flag for all lanes; 0 if it is nothing."""
    if value is None or isinstance(value, int):
        return np.full(300, value or 0)
    if hasattr(value, "form") and not isinstance(value, Bit):
        return np.asarray(value.array())
    bit = arithmetic.bit(value)
    return bit.mask.astype(int) if isinstance(bit, Bit) else np.full(300, bit)


def test_products_of_many_values_are_refused_before_they_take_memory() -> None:
    many = [variable(Root(f"x{each}", np.arange(1 << 22))) for each in range(2)]  # 2^47 B
    with pytest.raises(Unproven, match="a product of two sums"):
        Algebra().product(*many)
