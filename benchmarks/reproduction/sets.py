"""The paper's data sets at hand; its binary ones are made of those of more classes.

For none of its binary sets does the paper say which classes were put together. Here the lower half
of the digits is held against the upper. Letters in halves, and har, moving against resting, are two
more such tasks.
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
