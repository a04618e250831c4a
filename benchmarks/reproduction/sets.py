"""The available data sets of the paper; binary ones are made from sets with more classes.

The paper does not state which classes it merged for its binary sets. Here, the lower half of the
digits is one class, and the upper half the other. Two more such tasks are the letters in halves,
and har's movement against rest.
"""

from __future__ import annotations

from rows import SplitRow

MNIST = SplitRow("mnist", "mnist10.npz", split=5)
BINARY_SETS = [
    SplitRow("usps", "usps10_libsvm.npz", split=5),
    MNIST,
    SplitRow("letter", "letter26.npz", split=13),
    SplitRow("har", "har_hapt.npz", split=3),
]
MULTI_CLASS_SETS = [
    SplitRow("letter-26", "letter26.npz"),
    SplitRow("mnist-10", "mnist10.npz"),
    SplitRow("usps-10", "usps10_libsvm.npz"),
]
