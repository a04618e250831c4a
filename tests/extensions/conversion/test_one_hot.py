"""Columns of text that a OneHotEncoder encodes become features, as with `--one-hot`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import refusal, run, succeed
from extensions.conversion.files import stored, table
from refusals import refused_by
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from protonn_edge import from_pipeline, from_sklearn, load_model
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
NAMES = ("warmth", "crop", "bed", "damp")
CROPS = RNG.choice(["tomato", "basil", "mint"], 240)
WARMTH, BED, DAMP = RNG.normal(20, 4, 240).round(2), RNG.integers(1, 4, 240), RNG.uniform(0, 9, 240)
X = np.empty((240, 4), object)
X[:, 0], X[:, 1], X[:, 2], X[:, 3] = WARMTH, CROPS, BED, DAMP.round(3)
Y = np.where((CROPS == "tomato") & (WARMTH > 20), "water", np.where(DAMP + BED > 7, "vent", "wait"))


def columns(*extra: Any) -> ColumnTransformer:
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer((encoder, [1, 2]), *extra, remainder="passthrough")


def named(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline as if it had been fitted on a table with names."""
    pipeline[0].feature_names_in_ = np.array(NAMES, object)
    return pipeline


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(C=100, max_iter=2_000),
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        MLPClassifier((8,), max_iter=300, tol=0.01, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_pipeline_answers_as_before(estimator: Any):
    pipeline = make_pipeline(columns((StandardScaler(), [0])), estimator).fit(X, Y)
    found = from_sklearn(named(pipeline), X, Y)
    wanted = pipeline.predict(X)
    answers = found.source.answers(found.source.features.taken(X, "X"))
    assert np.mean(np.array(found.model.classes)[answers] == wanted) > 0.99
    assert found.steps[1].agreement > 0.99
    assert found.agreement > 0.95
    names = found.model.feature_names
    assert names[:6] == ("crop=basil", "crop=mint", "crop=tomato", "bed=1", "bed=2", "bed=3")
    assert sorted(names[6:]) == ["damp", "warmth"]
    table = found.model.record["table"]
    assert table["one_hot"] == {"crop": ["basil", "mint", "tomato"], "bed": ["1", "2", "3"]}
    assert "columns" not in found.model.record


def write(path: Path, more: tuple[Any, ...] = ()) -> Path:
    return table(path, X, Y, ",".join(NAMES), rows=more)


def test_the_model_reads_the_table_itself(tmp_path: Path):
    pipeline = make_pipeline(columns(), RandomForestClassifier(5, random_state=0)).fit(X, Y)
    found = from_sklearn(named(pipeline), X, Y)
    found.save(tmp_path / "crops.npz")
    data = write(tmp_path / "crops.csv", ((20, "sage", 2, 4.5, "wait"),))
    succeed("predict", tmp_path / "crops.npz", data, "-o", tmp_path / "answers.csv")
    with (tmp_path / "answers.csv").open(encoding="utf-8") as file:
        answers = [row["predicted_class"] for row in csv.DictReader(file)]
    assert answers[:-1] == np.array(found.model.classes)[found.model.predict(taken(found))].tolist()
    unknown = np.array([[20, "sage", 2, 4.5]], object)  # has no feature, as with handle_unknown
    assert answers[-1:] == pipeline.predict(unknown).tolist()


def taken(found: Any) -> np.ndarray:
    return found.source.features.taken(X, "X")


def test_a_file_of_the_pipeline_is_converted_with_its_columns_of_text(tmp_path: Path):
    pipeline = make_pipeline(columns(), RandomForestClassifier(5, random_state=0)).fit(X, Y)
    stored(tmp_path / "crops.skops", named(pipeline))
    data = write(tmp_path / "crops.csv")
    given = ("convert", tmp_path / "crops.skops", "--data", data, "-o", tmp_path / "crops.npz")
    sentence = refusal(run(*given))
    assert "makes features of the texts in column 'crop', 'bed'; add --one-hot crop,bed" in sentence
    succeed(*given, "--one-hot", "crop,bed")
    here, there = from_sklearn(pipeline, X, Y).model, load_model(tmp_path / "crops.npz")
    assert there.feature_names == here.feature_names
    assert there.record["table"] == here.record["table"]
    points = from_sklearn(pipeline, X, Y).source.features.taken(X, "X")
    assert np.array_equal(there.scores(points), here.scores(points))


def test_a_classifier_of_this_package_follows_an_encoder():
    pipeline = make_pipeline(columns(), LinearClassifier(random_state=0)).fit(X, Y)
    model = from_pipeline(named(pipeline), X).to_model()
    assert model.feature_names[:3] == ("crop=basil", "crop=mint", "crop=tomato")
    assert model.record["table"]["one_hot"]["bed"] == ["1", "2", "3"]


def test_gaps_are_filled_beside_texts():
    given = X.copy()
    given[::7, 3] = np.nan
    steps = columns((SimpleImputer(strategy="median"), [3]))
    found = from_sklearn(
        named(make_pipeline(steps, LogisticRegression(max_iter=3_000)).fit(given, Y)), given, Y
    )
    table = found.model.record["table"]
    median = np.nanmedian(given[:, 3].astype(float))
    assert table["values"] == [None] * 6 + [pytest.approx(median), None]
    given[0, 1] = None
    with pytest.raises(InputError, match="NaN"):  # a gap in a text
        found.source.features.taken(given, "X")


NUMBERS = X[:, [0, 2]].astype(float)
WITH_A_GAP = X.copy()
WITH_A_GAP[3, 1] = None


def only(*parts: Any) -> ColumnTransformer:
    return make_column_transformer(*parts, remainder="drop")


@pytest.mark.parametrize(
    ("step", "points"),
    [
        (only((OneHotEncoder(drop="first"), [1])), X),
        (only((OneHotEncoder(min_frequency=3), [1])), X),
        (only((OneHotEncoder(max_categories=2), [1])), X),
        (only((make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), [1])), X),
        (only((OneHotEncoder(), [1])), WITH_A_GAP),  # a gap is no category
        (make_pipeline(StandardScaler(), OneHotEncoder()), NUMBERS),
        (only((OneHotEncoder(), [2]), ("passthrough", [0, 2])), X),  # both a text and a number
    ],
)
def test_what_has_no_counterpart_is_refused(step: Any, points: np.ndarray):
    pipeline = make_pipeline(step, LogisticRegression(max_iter=3_000)).fit(points, Y)
    with refused_by("extensions.conversion.scaling"):
        from_sklearn(pipeline, NUMBERS if points is NUMBERS else X)
