"""The data set that comes with scikit-learn, for the demo and for tests that must always run."""

from __future__ import annotations

import numpy as np

from protonn_edge.datasets.dataset import Dataset, holdout

_TEST_FRACTION = 0.25


def load_digits_dataset(seed: int = 0) -> Dataset:
    """Return scikit-learn's handwritten digits: 8x8 images, 10 classes, 1,797 points.

    A quarter of each class, 449 points or so, is the test part; the seed says which.
    """
    # Imported here, since it takes half a second that is not needed to read a model.
    from sklearn.datasets import load_digits  # noqa: PLC0415

    digits = load_digits()
    whole = Dataset(
        X_train=digits.data.astype(np.float32),
        y_train=digits.target.astype(np.int64),
        X_test=np.empty((0, 64), dtype=np.float32),
        y_test=np.empty(0, dtype=np.int64),
        classes=tuple(str(name) for name in digits.target_names),
        feature_names=tuple(digits.feature_names),
    )
    return holdout(whole, _TEST_FRACTION, seed)
