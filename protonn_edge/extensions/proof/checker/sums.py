"""What a byte of a program is: a number, a function of one input, or part of a sum of functions.

The functions are opaque: only their names are compared. A `SumPart` is the highest byte of a
`SumNode`, a sum of n bytes that is known modulo ``256**n``; its lower bytes are its parent's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Root = Any
"""An input, by its index; a register, as it was before; a `SumNode`, as a signed number."""
Terms = dict[Root, tuple[tuple[int, int], ...]]
"""A function of each root: tokens, each with a factor."""


class One(NamedTuple):
    """A function of one root."""

    root: Root
    token: int


class SumNode:
    """A sum of functions and a number; `base` are the bytes of one that others were added to."""

    def __init__(
        self, parent: SumNode | None, number: int, terms: Terms, base: Sequence[Any]
    ) -> None:
        self.parent, self.number, self.terms, self.base = parent, number, terms, base
        self.size = len(base)


class SumPart(NamedTuple):
    """The byte ``sign * (highest byte of a node) + more``, modulo 256."""

    node: SumNode
    sign: int = 1
    more: int = 0


_EXACT = (1, 0), (-1, 255)  # the signs and numbers of parts that need no modulo


class SumCarry(NamedTuple):
    """The carry (sign 1) or borrow (sign -1) of some bytes, the lowest first, and a first carry."""

    xs: tuple[Any, ...]
    ys: tuple[Any, ...]
    sign: int
    first: Any
    node: SumNode | None

    @property
    def is_sign(self) -> bool:
        """Whether it is the sign of a sum: the highest byte is doubled."""
        plain = len(self.xs) == 1 and isinstance(self.xs[0], SumPart) and self.xs[0][1:] == (1, 0)
        return plain and self.xs == self.ys and self[2:4] == (1, 0)


class Less(NamedTuple):
    """Whether a signed number is less than another one; both are bytes, the lowest first."""

    xs: tuple[Any, ...]
    ys: tuple[Any, ...]


class SumTable:
    """Names of functions, and sums of them: equal ones are the same object."""

    def __init__(self) -> None:
        self._tokens: dict[Any, int] = {}
        self._nodes: dict[Any, Any] = {}

    def one(self, root: Root, *key: Any) -> One:
        """Return the function of a root that has a key."""
        return One(root, self._tokens.setdefault((root, key), len(self._tokens)))

    def total(
        self, xs: Sequence[Any], ys: Sequence[Any] = (), sign: int = 1, first: Any = 0
    ) -> tuple[int, Terms] | None:
        """Return ``xs + sign * (ys + first)`` of two rows of bytes, if it is a sum of functions.

        That is so if the bytes of each node in it add up to a multiple of the node's sum.
        """
        modulus, number, terms = 256 ** len(xs), 0, Terms()
        own, parts = Counter[One](), Counter[SumNode]()
        weighed = [(256**k, x) for k, x in enumerate(xs)]
        weighed += [(sign * 256**k, y) for k, y in enumerate(ys)] + [(sign, first)]
        for weight, byte in weighed:
            if isinstance(byte, int):
                number += weight * byte
            elif isinstance(byte, One):
                own[byte] += weight
            elif isinstance(byte, SumPart) and (byte[1:] in _EXACT or 256 * weight % modulus == 0):
                number += weight * byte.more
                parts[byte.node] += weight * byte.sign
            else:
                return None
        while parts:
            node = max(parts, key=lambda each: each.size)
            factor = _factor(parts, node, modulus)
            if factor is None:
                return None
            number += factor * node.number
            _add(terms, node.terms, factor, modulus)
        for one, weight in own.items():
            _add(terms, {one.root: ((one.token, 1),)}, weight, modulus)
        return number % modulus, terms

    def extended(self, below: SumCarry | None, x: Any, y: Any, sign: int, first: Any) -> SumCarry:
        """Return the carry behind one more byte; the node of a first one has no parent."""
        xs, ys = (*(below.xs if below else ()), x), (*(below.ys if below else ()), y)
        first = below.first if below else first
        key, parent = (xs, ys, sign, first), below.node if below else None
        if key not in self._nodes:
            total = self.total(xs, ys, sign, first)
            self._nodes[key] = None if total is None else SumNode(parent, *total, xs)
        return SumCarry(xs, ys, sign, first, self._nodes[key])

    def top(self, carry: SumCarry) -> Any:
        """Return the last byte of a sum; None if it is not known."""
        node = carry.node
        if node is None or len(node.terms) > 1 or isinstance(next(iter(node.terms), 0), SumNode):
            return node and SumPart(node)
        for root, terms in node.terms.items():
            return self.one(root, "byte", node.size, node.number, terms)
        return node.number >> 8 * (node.size - 1)

    def extension(self, byte: SumPart) -> SumPart:
        """Return the byte above the last one of a signed number."""
        node = byte.node
        if node not in self._nodes:
            terms: Terms = {node: ((self.one(node).token, 1),)}
            self._nodes[node] = SumNode(node, 0, terms, [None] * (node.size + 1))
        return SumPart(self._nodes[node])

    # ---- where ways meet ----

    def joined(self, x: Any, y: Any, bit: One) -> Any:
        """Return the value that is x if a bit is set, else y; None if it is neither's kind."""
        if x == y:
            return x
        if all(isinstance(v, int) or (isinstance(v, One) and v.root == bit.root) for v in (x, y)):
            return self.one(bit.root, "joined", bit, x, y)
        part = x if isinstance(x, SumPart) else y
        if not isinstance(part, SumPart):
            return None
        one, other = (
            v.node if isinstance(v, SumPart) and v[1:] == part[1:] else self._before(part, v)
            for v in (x, y)
        )
        node = one and other and self._node(one, other, bit)
        return node and part._replace(node=node)

    def _before(self, part: SumPart, byte: Any) -> SumNode | None:
        """Return the sum with this highest byte that others were added to for a part."""
        node, carry = part.node, None
        while node.base[-1] != byte and isinstance(node.base[-1], SumPart):
            node = node.base[-1].node
        for each in node.base if node.base[-1] == byte and part[1:] == (1, 0) else ():
            carry = self.extended(carry, each, 0, 1, 0)
        return carry and carry.node

    def _node(self, x: SumNode | None, y: SumNode | None, bit: One) -> SumNode | None:
        """Return the sum that is one of two, which may differ in the functions of one root."""
        if x is y or x is None or y is None or x.size != y.size:
            return x if x is y else None
        key = x, y, bit
        if key not in self._nodes:
            root, terms, others = bit.root, dict(x.terms), dict(y.terms)
            own, other = terms.pop(root, ()), others.pop(root, ())
            if terms != others:
                return None
            token = self.one(root, "sum", bit, own, x.number, other, y.number).token
            terms[root] = ((token, 1),)
            parent = self._node(x.parent, y.parent, bit)
            self._nodes[key] = SumNode(parent, 0, terms, [None] * x.size)
        made: SumNode | None = self._nodes[key]
        return made


def _factor(parts: Counter[SumNode], node: SumNode, modulus: int) -> int | None:
    """Take a node's bytes out of others; return its factor, if they are all of its bytes."""
    whole = [node]
    while whole[-1].parent:
        whole.append(whole[-1].parent)
    factor = parts[whole[-1]]
    if len(whole) < node.size or (factor << 8 * node.size) % modulus:
        return None
    left = [parts.pop(each, 0) - (factor << 8 * k) for k, each in enumerate(reversed(whole))]
    return None if any(each % modulus for each in left) else factor


def _add(terms: Terms, more: Mapping[Root, Any], factor: int, modulus: int) -> None:
    """Add a multiple of functions to others."""
    if factor == 1 and not terms:
        terms.update(more)
        return
    for root, others in more.items():
        total = Counter(dict(terms.pop(root, ())))
        for token, weight in others:
            total[token] += factor * weight
        left = sorted((token, weight % modulus) for token, weight in total.items())
        if any(weight for _, weight in left):
            terms[root] = tuple(each for each in left if each[1])
