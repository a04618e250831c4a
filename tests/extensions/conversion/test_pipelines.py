"""Pipelines of scalers, imputers, selectors and columns become one model of raw features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import succeed
from extensions.conversion.files import table
from numpy.typing import NDArray
from refusals import refused_by
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from protonn_edge import from_pipeline, from_sklearn, load_model, quantize, save_model
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.reading import load_points
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.expected import expected_by
from protonn_edge.model.model import Model, units_of
from protonn_edge.system.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:Skipping features without any observed values")

X, y = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0
GAPS = np.random.default_rng(0).random(X.shape) < 0.1
GAPPED = np.where(GAPS, np.nan, X)
EMPTY = GAPPED.copy()
EMPTY[:, 2] = np.nan


def classifier(**parameters: Any) -> ProtoNNClassifier:
    return ProtoNNClassifier(**({"epochs": 3, "n_prototypes": 6, "random_state": 0} | parameters))


def columns(*parts: tuple[str, Any, Any], **parameters: Any) -> ColumnTransformer:
    return ColumnTransformer(list(parts), **parameters)


def filled_and_scaled() -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


trees = ExtraTreesClassifier(10, random_state=0)
STEPS: dict[str, tuple[NDArray[Any], list[Any]]] = {
    "best": (X, [SelectKBest(k=5)]),
    "scaled, then best": (X, [StandardScaler(), SelectKBest(k=5), MinMaxScaler()]),
    "by a model": (X, [SelectFromModel(trees)]),
    "by variance": (X, [VarianceThreshold(1.0), StandardScaler()]),
    "filled": (GAPPED, [SimpleImputer()]),
    "scaled, then filled": (GAPPED, [StandardScaler(), SimpleImputer(strategy="median")]),
    "an empty column": (EMPTY, [filled_and_scaled(), SelectKBest(k=8)]),
    "all of them": (GAPPED, [filled_and_scaled(), VarianceThreshold(), SelectKBest(k=4)]),
    "columns": (
        X,
        [
            columns(
                ("a", StandardScaler(), [7, 3, 5]),
                ("b", "passthrough", slice(0, 2)),
                ("c", "drop", [9]),
                ("d", MinMaxScaler(), []),
                remainder=make_pipeline(MinMaxScaler(), SelectKBest(k=3)),
            ),
        ],
    ),
    "columns, filled": (
        GAPPED,
        [
            columns(
                ("a", filled_and_scaled(), [12, 0]),
                ("b", SimpleImputer(strategy="constant", fill_value=2.0), [6, 5]),
            ),
            "passthrough",
            VarianceThreshold(),
        ],
    ),
}


def raw_points(model: Model, points: NDArray[Any]) -> NDArray[Any]:
    """Return what a device is given: the columns that the model takes, gaps filled as recorded."""
    taken = points[:, model.record.get("columns", slice(None))].astype(np.float32)
    made = Preparation.of_record(model.record, model.n_features)
    return taken if made is None else made.fill(taken)


@pytest.mark.parametrize("name", STEPS)
def test_the_predictions_are_those_of_the_pipeline(name: str) -> None:
    points, steps = STEPS[name]
    pipeline = make_pipeline(*steps, classifier()).fit(points[TRAIN], y[TRAIN])
    model = from_pipeline(pipeline, points[TRAIN]).model
    answers = pipeline.classes_[model.predict(raw_points(model, points[TEST]))]
    assert np.array_equal(answers, pipeline.predict(points[TEST]))
    assert model.n_features == pipeline[-1].n_features_in_


def test_the_best_pipeline_of_a_search_is_converted() -> None:
    pipeline = make_pipeline(StandardScaler(), classifier())
    search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True, False]}, cv=2)
    model = from_pipeline(search.fit(X[TRAIN], y[TRAIN])).model
    answers = search.classes_[model.predict(X[TEST].astype(np.float32))]
    assert np.array_equal(answers, search.predict(X[TEST]))


@pytest.mark.parametrize("machine", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("name", ["scaled, then best", "an empty column", "columns, filled"])
def test_so_are_those_of_converted_estimators(name: str, machine: Any) -> None:
    points, steps = STEPS[name]
    pipeline = make_pipeline(*steps, machine).fit(points[TRAIN], y[TRAIN])
    found = from_sklearn(pipeline, points[TRAIN], epochs=0, evaluate_on=(points[TEST], y[TEST]))
    assert found.steps[0].accuracy == np.mean(pipeline.predict(points[TEST]) == y[TEST])
    assert found.steps[1].agreement == 1.0
    answers = found.model.predict(raw_points(found.model, points[TEST]))
    assert np.array_equal(answers, pipeline.predict(points[TEST]))


def test_columns_that_are_not_selected_are_not_asked_for(tmp_path: Path) -> None:
    pipeline = make_pipeline(SelectKBest(k=2), StandardScaler(), classifier()).fit(X, y)
    model = from_pipeline(pipeline, X).model
    kept = np.flatnonzero(pipeline[0].get_support()).tolist()
    assert model.record["columns"] == kept
    assert model.feature_names == tuple(f"x{index}" for index in kept)
    pipeline[0].feature_names_in_ = np.array(load_wine().feature_names, dtype=object)
    names = from_pipeline(pipeline).model.feature_names
    assert names == tuple(load_wine().feature_names[index] for index in kept)
    save_model(model, tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").n_inputs == 2


def written(path: Path, points: NDArray[Any]) -> Path:
    return table(path, points, y[TEST], ",".join(f"x{i}" for i in range(points.shape[1])))


def points_of(model: Model, path: Path) -> NDArray[Any]:
    return load_points(path, expected_by(model))[0]


def test_tables_for_the_model_are_filled_as_by_the_imputers(tmp_path: Path) -> None:
    points, steps = STEPS["columns, filled"]
    pipeline = make_pipeline(*steps, classifier()).fit(points[TRAIN], y[TRAIN])
    save_model(from_pipeline(pipeline, points[TRAIN]).model, tmp_path / "model.npz")
    model = load_model(tmp_path / "model.npz")
    read = points_of(model, written(tmp_path / "test.csv", points[TEST]))
    assert read.shape == (TEST.sum(), 4)
    answers = pipeline.classes_[model.predict(read)]
    assert np.array_equal(answers, pipeline.predict(points[TEST]))
    command = succeed("predict", tmp_path / "model.npz", tmp_path / "test.csv")
    assert "gaps filled with the imputer's value" in command.output + command.stderr


def test_gaps_that_no_imputer_fills_are_refused(tmp_path: Path) -> None:
    some = columns(("a", SimpleImputer(), [0, 1]), ("b", "passthrough", [2, 3]))
    pipeline = make_pipeline(some, classifier()).fit(X[TRAIN], y[TRAIN])
    model = from_pipeline(pipeline).model
    fine = X[TEST].copy()
    fine[3, 0] = np.nan
    assert np.isfinite(points_of(model, written(tmp_path / "fine.csv", fine))).all()
    with pytest.raises(
        InputError, match="has gaps in 'x2', 'x3', for which the model learned no values"
    ):
        points_of(model, written(tmp_path / "bad.csv", GAPPED[TEST]))


@needs_emulated_avr
def test_a_pipeline_is_saved_exported_and_measured_like_an_estimator(tmp_path: Path) -> None:
    points, steps = STEPS["columns, filled"]
    pipeline = make_pipeline(*steps, classifier()).fit(points[TRAIN], y[TRAIN])
    converted = from_pipeline(pipeline, points[TRAIN])
    converted.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").classes == converted.model.classes
    converted.export(tmp_path / "library", "c")
    assert (tmp_path / "library" / "README.md").is_file()
    measured = converted.measure(points[TEST], y[TEST])  # of all columns, gaps included
    integers = quantize(converted.model)
    expected = integers.predict(integers.quantize(converted.features.taken(points[TEST], "X")))
    assert measured.summary.mismatches == 0
    assert measured.summary.accuracy == np.mean(expected == y[TEST])
    with pytest.raises(InputError, match="label"):
        converted.measure(points[TEST], np.full(TEST.sum(), "a"))


def test_an_export_lists_the_imputers_values(tmp_path: Path) -> None:
    pipeline = make_pipeline(
        columns(("a", SimpleImputer(), [0]), ("b", "passthrough", [2])), classifier()
    ).fit(X[TRAIN], y[TRAIN])
    save_model(from_pipeline(pipeline).model, tmp_path / "model.npz")
    succeed("export", tmp_path / "model.npz", "--c", tmp_path / "library")
    text = (tmp_path / "library" / "README.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("| 0 x0 |")]
    assert f"{X[TRAIN][:, 0].mean():.7g}" in "".join(lines)
    assert "nan" not in text


@pytest.mark.parametrize(
    ("step", "settings", "named"),
    [
        (KNNImputer(), {}, "step 'odd'"),
        (FunctionTransformer(np.log1p), {}, "step 'odd'"),
        (SimpleImputer(missing_values=-1), {}, "step 'odd'"),
        (SimpleImputer(add_indicator=True), {}, "step 'odd'"),
        (make_pipeline(PCA(5), SimpleImputer()), {}, "step 'simpleimputer'"),
        (columns(("a", KNNImputer(), [1, 2])), {}, "step 'odd'"),
        (columns(("a", PCA(1), [1, 2])), {}, "step 'odd'"),
        (columns(("a", MinMaxScaler(), [1, 2]), ("b", "passthrough", [2])), {}, "step 'odd'"),
        (columns(("a", MinMaxScaler(), [1]), transformer_weights={"a": 2.0}), {}, "step 'odd'"),
        (MinMaxScaler(clip=True), {}, "step 'odd'"),
        (StandardScaler(), {"normalization": "l2"}, "scalers of the pipeline"),
        (StandardScaler(), {"window_shape": (4, 3), "features": "mean"}, "features of raw values"),
    ],
)
def test_what_a_model_cannot_take_is_one_sentence(
    step: Any, settings: dict[str, Any], named: str
) -> None:
    pipeline = Pipeline([("odd", step), ("last", classifier(**settings))]).fit(X[:, :12], y)
    with refused_by("extensions.conversion.scaling", naming=named):
        from_pipeline(pipeline)


def test_columns_that_are_dropped_may_be_texts() -> None:
    mixed = np.column_stack([np.array(["on", "off"] * 89, dtype=object), X.astype(object)])
    numbers = columns(("a", StandardScaler(), [1, 2, 3]), remainder="drop")
    for last in (classifier(), DecisionTreeClassifier(random_state=0)):
        pipeline = make_pipeline(numbers, last).fit(mixed[TRAIN], y[TRAIN])
        if isinstance(last, ProtoNNClassifier):
            model = from_pipeline(pipeline, mixed[TRAIN]).model
        else:
            model = from_sklearn(pipeline, mixed[TRAIN], evaluate_on=(mixed[TEST], y[TEST])).model
        answers = model.predict(mixed[TEST][:, 1:4].astype(np.float32))
        assert np.array_equal(answers, pipeline.predict(mixed[TEST]))
    with refused_by("X"):
        from_pipeline(
            make_pipeline(columns(("a", "passthrough", [0, 1])), classifier()).fit(X, y),
            mixed[:, :13],
        )


SCALERS = {
    "standard": [StandardScaler()],
    "minmax": [MinMaxScaler((-1, 3))],
    "largest": [MaxAbsScaler()],
    "two": [RobustScaler(), StandardScaler(with_std=False)],
}


@pytest.mark.parametrize("name", SCALERS)
@pytest.mark.parametrize("normalization", ["standard", "none"])
def test_the_scores_are_those_of_the_pipeline(name: str, normalization: str) -> None:
    pipeline = make_pipeline(*SCALERS[name], classifier(normalization=normalization)).fit(X, y)
    model = from_pipeline(pipeline).model
    expected = pipeline[-1].to_model().scores(pipeline[:-1].transform(X).astype(np.float32))
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-4, atol=1e-5)


TURNED = {
    "components": [PCA(5)],
    "scaled": [StandardScaler(), PCA(4, whiten=True), MinMaxScaler()],
    "filled and selected": [SimpleImputer(), SelectKBest(k=6), PCA(3)],
}


@pytest.mark.parametrize("name", TURNED)
@pytest.mark.parametrize("kind", ["dense", "linear", "protonn"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_pca_becomes_part_of_the_matrix(name: str, kind: str, classes: int) -> None:
    table = load_wine(as_frame=True).data[y < classes]
    last = CLASSIFIERS[kind](random_state=0, **({} if kind == "linear" else {"epochs": 3}))
    pipeline = make_pipeline(*TURNED[name], last).fit(table, y[y < classes])
    converted = from_pipeline(pipeline, table)
    components = pipeline[:-1].transform(table).astype(np.float32)
    scores = converted.model.scores(raw_points(converted.model, table.to_numpy()))
    np.testing.assert_allclose(scores, last.to_model().scores(components), rtol=1e-3, atol=1e-4)
    selectors = [step for step in pipeline if hasattr(step, "get_support")]
    kept = selectors[0].get_support() if selectors else slice(None)
    assert converted.model.feature_names == tuple(table.columns[kept])


@pytest.mark.parametrize(
    "last",
    [classifier(clip=0.1), classifier(normalization="l2"), CLASSIFIERS["forest"](random_state=0)],
    ids=["clipped", "l2", "trees"],
)
def test_a_pca_is_refused_before_what_is_no_matrix_of_its_components(last: Any) -> None:
    pipeline = make_pipeline(PCA(5), last).fit(X, y)
    with refused_by("extensions.conversion.turning", naming="leave the PCA out"):
        from_pipeline(pipeline, X)


def test_a_pca_needs_the_raw_points() -> None:
    with refused_by("extensions.conversion.turning", naming="pass X"):
        from_pipeline(make_pipeline(PCA(5), classifier()).fit(X, y))


def test_the_integers_are_those_of_scaled_points() -> None:
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    scaled, raw = quantize(pipeline[-1].to_model()), quantize(from_pipeline(pipeline).model)
    differs = scaled.quantize(pipeline[:-1].transform(X)) != raw.quantize(X)
    assert differs.mean() < 0.002  # of inputs at the edge of two bytes
    inputs = raw.quantize(X)
    assert np.array_equal(raw.scores(inputs), scaled.scores(inputs))


def test_units_follow_from_the_decimals_of_raw_points() -> None:
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    plain = classifier().fit(X, y).to_model()
    assert np.array_equal(units_of(from_pipeline(pipeline, X).model), units_of(plain))


def test_each_way_names_the_other_where_it_is_wanted() -> None:
    with refused_by("extensions.conversion.estimators"):
        from_sklearn(make_pipeline(StandardScaler(), classifier()).fit(X, y), X)
    with refused_by("extensions.conversion.scaling"):
        from_pipeline(make_pipeline(StandardScaler(), PCA()))
    with refused_by("extensions.conversion.scaling"):
        from_pipeline(classifier())
    with refused_by("extensions.conversion.reading"):
        from_pipeline(make_pipeline(StandardScaler(), classifier()))
