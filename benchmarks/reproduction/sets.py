"""The available data sets of the paper; binary ones are made from sets with more classes.

The paper does not state which classes it merged for its binary sets. Here, the lower half of the
digits is one class, and the upper half the other. Two more such tasks are the letters in halves,
and har's movement against rest.
"""

from __future__ import annotations

from kind_rows import HAR, LETTER, MNIST, USPS
from trained import Row, in_two

SEED = 0
MNIST_HALVES = Row("mnist", MNIST, part=in_two(5))
BINARY_SETS = (
    Row("usps", USPS, part=in_two(5)),
    MNIST_HALVES,
    Row("letter", LETTER, part=in_two(13)),
    Row("har", HAR, part=in_two(3)),
)
MULTI_CLASS_SETS = (Row("letter-26", LETTER), Row("mnist-10", MNIST), Row("usps-10", USPS))
