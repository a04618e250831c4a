"""Compare linear classifiers with scikit-learn's, and measure the cycles of a multiplication.

    python benchmarks/linear.py [--only NAME] [--seeds N] [--json]

prints one row a model: the accuracy of scikit-learn's logistic regression with the same settings
on the same normalized points, and of the integers, mean and standard deviation over five seeds
(`--seeds`), while all else is of seed 0; the test points on which host C or the emulated Uno differ
from the NumPy model (none may); the share of weights that are not 0, and the plan.

*multiplications* are those of a test point, on average, that cannot be left out: of an input that
is not 0 with a weight that is not 0. *cycles* are those of a whole prediction on the Uno, on
average. *a multiplication* is what is left for each, without what is no multiplication: passing
over inputs that are 0, and the steps around the product (its begin, its calls, the decision), all
as the plan counts them. The least that one takes with a weight in flash is 7: lpm 3, mulsu 2, add
and adc; where weights are instructions, 5. To fetch an input and to see that it is not 0 takes 4
more, which its multiplications share: with two classes each input has one.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import rounding  # noqa: F401 - before NumPy
import numpy as np
from numpy.typing import NDArray
from on_uno import (
    ACCURACY_COLUMN,
    BOUND_COLUMN,
    CHECKED,
    CYCLES_COLUMN,
    FLASH_COLUMN,
    SECONDS_COLUMN,
    run_on_uno,
)
from printing import Columns
from rows import SplitRow, integer_accuracy, over_seeds, table_command
from sklearn.linear_model import LogisticRegression

from protonn_edge.codegen.kernels.listing import BEGIN, END
from protonn_edge.codegen.kernels.matvec.kernels import Pass
from protonn_edge.codegen.kernels.matvec.loops import cycles_of
from protonn_edge.codegen.plan import Plan
from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.model.integer_chain import IntegerChain, own_inputs, stage_of
from protonn_edge.model.model import Model

# Chosen on points held out of the training parts alone: usps10 in 4 folds, har in 5 folds of its
# people, mnist2 a fourth of its points. Of 1e-5, 3e-5, 1e-4 and so on, to beyond where accuracy
# falls, the regularization is the largest with which integers are within a standard error of the
# best, that of a share of as many points. har's clip, of 0, 0.001, 0.005, 0.02, 0.05 and 0.1, is
# the best one with that regularization.
CASES = [
    SplitRow("usps10", "usps10_libsvm.npz", {"regularization": 1e-4}),
    SplitRow("mnist2", "mnist10.npz", {"regularization": 1e-4}, split=5),
    SplitRow("har", "har_hapt.npz", {"clip": 0.05, "regularization": 3e-3}),
]
COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("D, L", lambda r: f"{r['inputs']}, {r['classes']}"),
    ("weights %", lambda r: f"{100 * r['nonzero']:.0f}"),
    ("bits of inputs, sums", lambda r: f"{r['input_bits']}, {r['accumulator_bits']}"),
    ("scikit-learn %", lambda r: f"{100 * r['sklearn_accuracy']:.2f}"),
    ACCURACY_COLUMN,
    *CHECKED,
    ("plan", lambda r: r["plan"]["kernel"]),
    CYCLES_COLUMN,
    BOUND_COLUMN,
    ("multiplications", lambda r: f"{r['multiplications']:,.0f}"),
    ("a multiplication", lambda r: f"{r['cycles_a_multiplication']:.2f}"),
    FLASH_COLUMN,
    SECONDS_COLUMN,
]


def measure_case(case: SplitRow, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a model with each seed, build the first, and run all test points."""
    begin = time.perf_counter()
    models = [_trained(case, dataset, seed) for seed in seeds]
    seconds = (time.perf_counter() - begin) / len(models)
    return {
        "name": case.name,
        "sklearn_accuracy": _sklearn_accuracy(case, models[0], dataset),
        "seconds": seconds,
        **_run(models[0], dataset),
        **over_seeds([integer_accuracy(each, dataset) for each in models]),
    }


def _trained(case: SplitRow, dataset: Dataset, seed: int) -> Model:
    classifier = LinearClassifier(random_state=seed, **case.settings)
    model: Model = classifier.fit(dataset.X_train, dataset.y_train).to_model(
        classes=dataset.classes
    )
    return model


def _sklearn_accuracy(case: SplitRow, model: Model, dataset: Dataset) -> float:
    """Return the accuracy of scikit-learn's own on the test points."""
    classifier = LinearClassifier(**case.settings)
    own = LogisticRegression(
        l1_ratio=1.0,
        C=1 / (classifier.regularization * len(dataset.y_train)),
        solver=model.record["trainer"],
        max_iter=classifier.max_iterations,
        tol=classifier.tolerance,
        random_state=0,
    )
    own.fit(model.normalized(dataset.X_train), dataset.y_train)
    return float(own.score(model.normalized(dataset.X_test), dataset.y_test))


def _run(model: Model, dataset: Dataset) -> dict[str, Any]:
    """Build the model and run all test points."""
    on_uno = run_on_uno(model, dataset)
    integers, record = on_uno.reference, on_uno.record
    assert isinstance(integers, IntegerChain)
    assert isinstance(on_uno.plan, Plan)
    used = own_inputs(integers, on_uno.Q) != 0
    multiplications = float(
        (used @ np.count_nonzero(stage_of(integers, IntegerLinear).weights, axis=0)).mean()
    )
    multiplying = record["cycles"]["mean"] - _besides(on_uno.plan, used)
    return record | {
        "nonzero": float(np.mean(stage_of(integers, IntegerLinear).weights != 0)),
        "input_bits": int(integers.inputs.maximum).bit_length(),
        "accumulator_bits": stage_of(integers, IntegerLinear).accumulator_bits,
        "multiplications": multiplications,
        "cycles_a_multiplication": multiplying / multiplications,
    }


def _besides(plan: Plan, used: NDArray[np.bool_]) -> float:
    """Return the cycles of a prediction, on average, that are for no input that is not 0."""
    product, share = plan.of("linear").matvec, float(used.mean())
    skipped = _SKIPPED.get(product.kernel, 9) * used.shape[1] * len(product.passes)
    of_zeros = sum(map(_cycles_of_zeros, product.passes))
    cycles = plan.cycles - sum(each.cycles for each in product.passes)
    return float(cycles + of_zeros - share * skipped)


_SKIPPED = {"unrolled": 5}  # cycles of an input that is 0, if not 9


def _cycles_of_zeros(part: Pass) -> int:
    """Return the cycles of a pass over inputs that are 0."""
    if part.kernel != "unrolled":
        return cycles_of(part.listing, part.weights.shape[1], zero=1)
    behind = {label: 1 for label in part.listing.places if label.startswith("behind")}
    return part.listing.path(BEGIN, [END], behind)


SENTENCE = "Print linear classifiers beside scikit-learn's own."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
