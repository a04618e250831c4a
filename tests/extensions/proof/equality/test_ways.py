"""Paths through the trees of a forest are those of the model, however a compiler joins them."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.forms import Root, Unproven, variable
from protonn_edge.extensions.proof.reference import Reference
from protonn_edge.extensions.proof.stages.forest import forms
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF

INPUTS = [Root(f"x{i}", np.arange(4)) for i in range(2)]
LOW = np.arange(4) <= 1
BOXES = [{INPUTS[0]: first, INPUTS[1]: second} for first in (LOW, ~LOW) for second in (LOW, ~LOW)]


def two_trees(threshold: int) -> IntegerForest:
    """Return trees that both test both inputs; two leaves of the second one are equal."""
    return IntegerForest(
        features=np.array([0, 1, LEAF, LEAF, LEAF, 1, LEAF, 0, LEAF, 1, LEAF, LEAF]),
        thresholds=np.array([1, 1, 1, 1, threshold], np.uint8),
        leaves=np.array([[1, 2], [3, 5], [7, 11], [13, 1], [2, 4], [9, 6], [9, 6]], np.int8),
        bias=np.array([0, 1]),
        n_features=2,
    )


def test_one_way_may_lead_through_two_trees_and_to_equal_leaves() -> None:
    stage, way = two_trees(threshold=2), Root("way", np.arange(4), boxes=BOXES)
    scores = forms(stage, [variable(each) for each in INPUTS], Reference(Algebra(), [way]))
    points = np.array([[int(np.argmax(box[root])) for root in INPUTS] for box in BOXES], np.uint8)
    assert [each.array().tolist() for each in scores] == stage.run(points).T.tolist()


def test_a_way_that_leads_to_two_leaves_decides_no_tree() -> None:
    way = Root("way", np.arange(2), boxes=[{INPUTS[0]: LOW}, {INPUTS[0]: ~LOW}])
    inputs = [variable(each) for each in INPUTS]
    with pytest.raises(Unproven, match="no way"):
        forms(two_trees(threshold=2), inputs, Reference(Algebra(), [way]))
