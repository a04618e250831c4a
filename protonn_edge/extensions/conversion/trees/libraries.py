"""Models of XGBoost and LightGBM, in memory or in their .json, .ubj or .txt files.

A model in memory serializes itself, so neither library is imported here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from protonn_edge.extensions.conversion.reading import StoredClassifier, refusing
from protonn_edge.extensions.conversion.search import NUMBER
from protonn_edge.extensions.conversion.trees import numbers as of_numbers
from protonn_edge.extensions.conversion.trees import ubjson
from protonn_edge.extensions.conversion.trees.boosters import (
    Indices,
    StoredTree,
    boosted_rule,
    by_category,
    vector,
)
from protonn_edge.extensions.conversion.trees.trees import TreeRule, check_gaps, unsupported
from protonn_edge.model.integer_stage import check_counts
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import MODEL_LIMIT_BYTES, read_file

LIBRARIES = {
    "xgboost": ("Booster", "XGBClassifier", "XGBRFClassifier"),
    "lightgbm": ("Booster", "LGBMClassifier"),
}
# Without missing values, all splits have the same side for them, which the kind of search decides.
# In sums of many weighted points, a rounding error looks like a missing value.
_ROUNDED_SHARE = 0.005
_OBJECTIVES = (
    *("binary:logistic", "multi:softmax", "multi:softprob"),
    *("binary", "multiclass", "multiclassova"),
)


OfNumber = Callable[[TreeRule], TreeRule]


def load_booster(path: Path) -> StoredClassifier:
    """Return the classifier in a file of XGBoost or LightGBM; its labels are 0, 1, ..."""
    content = read_file(path, limit_bytes=MODEL_LIMIT_BYTES)
    if content.startswith(b"tree") or (path.suffix == ".txt" and content[:1] != b"{"):
        return read_lightgbm(content.decode("utf-8", "replace"), str(path))
    return read_xgboost(content, str(path))


def of_library(estimator: Any) -> StoredClassifier | None:
    """Return a fitted model of `LIBRARIES`; None for any other object."""
    library, name = type(estimator).__module__.partition(".")[0], type(estimator).__name__
    if name not in known_types(library):
        return None
    alone = name == "Booster"
    try:
        if library == "xgboost":
            booster = estimator if alone else estimator.get_booster()
            if not alone and not np.isnan(estimator.missing):
                has = f"{estimator.missing:g} as missing values"
                raise unsupported(f"the {name}", has, "train with missing=nan")
            stored = read_xgboost(bytes(booster.save_raw("json")), f"the {name}", best=not alone)
        else:
            booster = estimator if alone else estimator.booster_
            stored = read_lightgbm(booster.model_to_string(), f"the {name}")
    except NotFittedError as error:
        raise InvalidValue(name, "not fitted", "fit it before you convert it") from error
    labels = np.asarray(getattr(estimator, "classes_", stored.classes_))
    return replace(stored, name=name, classes_=labels)


def known_types(library: str) -> set[str]:
    """Return the names of a library's models that can be converted."""
    every = (LIBRARIES, of_numbers.LIBRARIES)
    return {name for libraries in every for name in libraries.get(library, ())}


def read_xgboost(content: bytes, what: str, *, best: bool = False) -> StoredClassifier:
    """Read the classifier in JSON or UBJSON; `best` leaves out rounds after the best one.

    Rounds after the best are also left out if the file is from scikit-learn's interface.
    """
    with refusing(what, "XGBoost"):
        text = re.match(rb'\{\s*"', content)
        learner = (json.loads(content) if text else ubjson.parse(content))["learner"]
        booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
        if booster["name"] != "gbtree":
            has = f"scores of the booster {str(booster['name'])[:20]!r}"
            raise unsupported(what, has, "train with booster='gbtree'")
        k, groups = int(parameters["num_feature"]), max(1, int(parameters["num_class"]))
        check_counts(features=k, classes=groups)
        targets = int(parameters.get("num_target", 1))
        of_number = _of_objective(str(learner["objective"]["name"]), groups * targets, what)
        if targets > 1:
            raise unsupported(what, f"{targets:,} labels per point", "train one model per label")
        model, attributes = booster["model"], learner["attributes"]
        trees, classes = model["trees"], vector(model["tree_info"], len(model["trees"]))
        together = groups * int(model["gbtree_model_param"]["num_parallel_tree"])
        if (best or "scikit_learn" in attributes) and "best_iteration" in attributes:
            trees = trees[: together * (int(attributes["best_iteration"]) + 1)]
        names, columns = map(str, learner.get("feature_names", ())), classes[: len(trees)]
        start = np.array(json.loads(parameters["base_score"]), np.float64, ndmin=1)
        if start.shape not in {(1,), (groups,)}:
            raise ValueError("the number of base scores differs from the number of classes")
        start = np.zeros(groups) + start
        if groups == 1 and not of_number:  # the share of the second class; otherwise logits
            columns, start = columns + 1, np.append(0.0, np.log(start / (1.0 - start)))
        stored = [_xgboost_tree(tree, what) for tree in trees]
        rule = boosted_rule(stored, columns, start, k=k, together=together, strict=True)
        sides = np.concatenate([tree.gaps[~tree.leaf] for tree in stored])
        learned = check_gaps(what, sides, sides < 0, sides >= 0, share=_ROUNDED_SHARE)
        return _stored(what, replace(rule, learned=learned), k, [*names], of_number)


def _stored(
    what: str, rule: TreeRule, k: int, names: list[str], of_number: OfNumber | None
) -> StoredClassifier:
    labels = np.arange(len(rule.grown.bias))
    if of_number is not None:
        rule, labels = of_number(rule), np.array([NUMBER])
    return StoredClassifier(what, rule, k, np.array(names, str), labels)


def _of_objective(objective: str, outputs: int, what: str) -> OfNumber | None:
    """Return what makes the rule of a number, None for classes; other objectives are refused.

    An objective is its name, in LightGBM followed by its parameters.
    """
    name = objective.split(maxsplit=1)[0]
    if name not in (*_OBJECTIVES, *of_numbers.OBJECTIVES) or "sqrt" in objective:
        remedy = (
            f"train with one of the objectives {', '.join((*_OBJECTIVES, *of_numbers.OBJECTIVES))}"
        )
        raise unsupported(what, f"scores of the objective {objective[:40]!r}", remedy)
    if name in of_numbers.OBJECTIVES and outputs > 1:
        raise unsupported(what, f"{outputs:,} outputs", "train a model of one number")
    return of_numbers.OBJECTIVES.get(name)


def _xgboost_tree(tree: Any, what: str) -> StoredTree:
    n = int(tree["tree_param"]["num_nodes"])
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise unsupported(what, "leaves with several values", "train with one tree per class")
    if vector(tree["split_type"], n).any():
        raise by_category(what)
    numbers = vector(tree["split_conditions"], n, "f").astype(np.float32)
    # "Below a float32 threshold" is "at most the next smaller float32".
    below = np.nextafter(numbers, np.float32(-np.inf)).astype(np.float64)
    left, right = (vector(tree[f"{side}_children"], n) for side in ("left", "right"))
    features, values = vector(tree["split_indices"], n), numbers.astype(np.float64)
    gaps = vector(tree["default_left"], n) > 0
    return StoredTree(left == -1, left, right, features, below, gaps, values)


def read_lightgbm(text: str, what: str) -> StoredClassifier:
    """Return the classifier in a text."""
    with refusing(what, "LightGBM"):
        trees_of, end, _ = text.replace("\r\n", "\n").partition("\nend of trees")
        head, *blocks = re.split(r"\nTree=\d+\n", trees_of)
        if not head.startswith("tree\n"):
            raise ValueError("the first line is not 'tree'")
        if not end:
            raise ValueError("the file ends before the line 'end of trees'")
        fields = _fields(head)
        k, groups = int(fields["max_feature_idx"]) + 1, int(fields["num_tree_per_iteration"])
        check_counts(features=k, classes=groups)
        of_number = _of_objective(fields["objective"], groups, what)
        if groups != int(fields["num_class"]):
            raise ValueError("a class has several trees per iteration")
        n_scores = 1 if of_number else max(2, groups)
        columns = np.arange(len(blocks)) % groups + (n_scores - groups)
        trees = [_lightgbm_tree(_fields(block), what) for block in blocks]
        if "average_output" in fields:  # of a random forest
            trees = [replace(tree, values=tree.values / len(blocks) * groups) for tree in trees]
        rule = boosted_rule(trees, columns, np.zeros(n_scores), k=k, together=groups)
        names = fields["feature_names"].split()
        if names == [f"Column_{index}" for index in range(k)]:
            names = []  # there were none
        return _stored(what, rule, k, names, of_number)


def _fields(block: str) -> dict[str, str]:
    return {name: text for name, _, text in (line.partition("=") for line in block.splitlines())}


def _lightgbm_tree(fields: dict[str, str], what: str) -> StoredTree:
    """Return a tree with inner nodes before its leaves, which have negative numbers."""
    if int(fields["num_cat"]):
        raise by_category(what)
    if int(fields.get("is_linear", 0)):
        raise unsupported(what, "linear functions in leaves", "train without linear_tree")
    leaves = int(fields["num_leaves"])
    inner, none = leaves - 1, np.zeros(leaves, np.int64)

    def numbers(name: str, kinds: str = "iub") -> Array:
        read, texts = float if kinds == "f" else int, fields.get(name, "").split()
        values = vector([read(word) for word in texts], inner, kinds)
        return np.concatenate([values, none])

    def children(name: str) -> Indices:
        places = numbers(name)
        if (places >= max(1, inner)).any():
            raise ValueError("a node refers to a child that does not exist")
        return np.where(places >= 0, places, inner + ~places)

    kinds, thresholds = numbers("decision_type"), numbers("threshold", "f")
    if (kinds & 4).any():
        raise unsupported(what, "zeros as missing values", "train without zero_as_missing")
    check_gaps(what, kinds[:inner] & 8, np.zeros(inner))
    values = vector([float(word) for word in fields["leaf_value"].split()], leaves, "f")
    return StoredTree(
        leaf=np.arange(inner + leaves) >= inner,
        left=children("left_child"),
        right=children("right_child"),
        features=numbers("split_feature"),
        thresholds=thresholds,
        gaps=thresholds >= 0,  # LightGBM takes a value that was never missing in training for 0
        values=np.concatenate([np.zeros(inner), values]),
    )
