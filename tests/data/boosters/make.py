"""Write the models in this folder, and their answers as XGBoost and LightGBM compute them.

    pip install xgboost lightgbm && python tests/data/boosters/make.py

The points are scikit-learn's iris and breast cancer data, in float32; `answers.json` also has the
versions of the libraries.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import lightgbm
import numpy as np
import sklearn
import xgboost
from sklearn.datasets import load_breast_cancer, load_iris

FOLDER = Path(__file__).parent
SCORED = 5  # points whose scores are kept


def kept(answers: np.ndarray, scores: np.ndarray) -> dict[str, object]:
    """Return the answers to all points, one digit each, and the first scores."""
    return {
        "answers": "".join(map(str, answers.tolist())),
        "scores": np.asarray(scores, np.float64)[:SCORED].tolist(),
    }


def main() -> None:
    """Write all files."""
    found: dict[str, object] = {
        "versions": {each.__name__: each.__version__ for each in (lightgbm, sklearn, xgboost)}
    }
    for name, load in (("iris", load_iris), ("cancer", load_breast_cancer)):
        X, y = load(return_X_y=True)
        X = X.astype(np.float32)
        trees = xgboost.XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1, random_state=0)
        trees.fit(X, y)
        trees.save_model(FOLDER / f"{name}.json")
        found[f"{name}.json"] = kept(trees.predict(X), trees.predict(X, output_margin=True))
        leaves = lightgbm.LGBMClassifier(
            n_estimators=4, num_leaves=4, n_jobs=1, random_state=0, verbose=-1, deterministic=True
        )
        leaves.fit(X, y)
        text = leaves.booster_.model_to_string()
        settings = re.compile(r"^\[.*\n", re.MULTILINE)  # of the training, which are long
        (FOLDER / f"{name}.txt").write_text(settings.sub("", text), "utf-8")
        found[f"{name}.txt"] = kept(leaves.predict(X), leaves.predict(X, raw_score=True))
        if name == "iris":
            trees.save_model(FOLDER / "iris.ubj")
            found["iris.ubj"] = found["iris.json"]
    (FOLDER / "answers.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
