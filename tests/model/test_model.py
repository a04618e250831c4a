"""The float model: what it computes, what it refuses, and its file."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import protonn_model, replace
from model_factory import (
    plain_model,
    random_images,
    random_pooling_model,
)
from refusals import refused_by

from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.protonn.head import ProtoNNHead, rbf
from protonn_edge.model import model as base
from protonn_edge.model.file import (
    FORMAT_VERSION,
    load_model,
    model_bytes,
    save_model,
)
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.policy.label_sets.rule import LabelSets
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import MODEL_LIMIT_BYTES


def make_model(
    seed: int = 0, d: int = 3, D: int = 5, m: int = 4, L: int = 2, **changes: Any
) -> Model:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, D)).round(1)
    fields: dict[str, Any] = {
        "projection": rng.normal(size=(d, D)).astype(np.float32),
        "prototypes": rng.normal(size=(d, m)).astype(np.float32),
        "labels": rng.normal(size=(L, m)).astype(np.float32),
        "gamma": 0.5,
        "normalizer": Normalizer("standard", X.mean(axis=0), 1 / X.std(axis=0)),
        "inputs": InputStatistics.of(X),
        "classes": tuple(f"class {index}" for index in range(L)),
        "feature_names": tuple(f"f{index}" for index in range(D)),
        "record": {"seed": seed, "history": [0.5, 0.25]},
    }
    return protonn_model(**(fields | changes))


def arrays_of(model: Model) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(model_bytes(model)), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive}


def write_arrays(path: Path, **changes: Any) -> Path:
    """Write a model file with some arrays replaced, or left out if None."""
    arrays = arrays_of(make_model()) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


# --- what it computes ----------------------------------------------------------------------------


def test_scores_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = make_model(), np.random.default_rng(1).normal(size=(50, 5))
    whole = model.scores(X)
    monkeypatch.setattr(base, "CHUNK_BYTES", 8 * 7 * 9)
    np.testing.assert_allclose(model.scores(X), whole, rtol=1e-12)


def test_a_tie_goes_to_the_first_class() -> None:
    model = make_model(labels=np.ones((2, 4), dtype=np.float32))
    assert model.predict(np.zeros((3, 5))).tolist() == [0, 0, 0]


def test_no_points_give_no_scores() -> None:
    assert make_model().scores(np.empty((0, 5))).shape == (0, 2)


def test_sizes_are_those_of_the_matrices() -> None:
    model = make_model(d=3, D=5, m=4, L=2)
    sizes = (model.head.n_projections, model.n_features, model.head.n_prototypes, model.n_classes)
    assert sizes == (3, 5, 4, 2)


@pytest.mark.parametrize(
    ("points", "found"),
    [
        (np.array([[0, 0, 0, 0, 0], [0, 0, np.nan, 0, 0]]), "row 1"),
        (np.zeros((1, 7)), "7 features, expected 5"),
        (np.zeros(5), ""),
        (np.array([["a"] * 5]), ""),
    ],
)
def test_points_that_cannot_be_scored_are_refused(points: np.ndarray, found: str) -> None:
    with refused_by("model.model", naming=found):
        make_model().scores(points)


def test_background_is_the_most_frequent_value_and_the_smallest_of_those() -> None:
    X = np.array([[0.0, 2.0], [0.0, 1.0], [5.0, 2.0], [7.0, 1.0]])
    statistics = InputStatistics.of(X)
    assert statistics.background.tolist() == [0.0, 1.0]
    assert statistics.lower.tolist() == [0.0, 1.0]
    assert statistics.upper.tolist() == [7.0, 2.0]


def test_arrays_of_a_model_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        make_model().head.projection[0, 0] = 1.0


def test_identity_normalizer_changes_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(3, 4))
    assert np.array_equal(Normalizer.identity(4).apply(X), X)


@pytest.mark.parametrize(
    "changes",
    [
        {"gamma": 0.0},
        {"gamma": float("nan")},
        {"classes": ("a", "a")},
        {"classes": ("a",)},
        {"classes": ("a", "b\n")},
        {"classes": ("a", "")},
        {"classes": ("a", "b" * 101)},
        {"feature_names": ("x",)},
        {"prototypes": np.zeros((2, 4), dtype=np.float32)},
        {"labels": np.zeros((2, 9), dtype=np.float32)},
        {"projection": np.full((3, 5), 1e300)},
        {"projection": np.zeros((3, 0), dtype=np.float32)},
        {"normalizer": Normalizer.identity(6)},
        {"record": {"x": float("nan")}},
        {"record": {"x": object()}},
        {"record": {"x": "y" * 2**20}},
        {"record": [1]},
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(changes: dict[str, Any]) -> None:
    with refused_by("model.checks", "model.model", "data.naming", "kinds.protonn.head"):
        make_model(**changes)


# --- its file ------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        save_model(make_model(3), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_file_tells_no_time_and_no_path(tmp_path: Path) -> None:
    save_model(make_model(), tmp_path / "model.npz")
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert str(tmp_path).encode() not in (tmp_path / "model.npz").read_bytes()


def test_numpy_reads_the_file_without_pickle(tmp_path: Path) -> None:
    model = make_model()
    save_model(model, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as archive:
        assert int(archive["format_version"]) == FORMAT_VERSION
        assert np.array_equal(archive["head.projection"], model.head.projection)
        assert json.loads(archive["record"].tobytes())["seed"] == 0


def test_a_file_in_fortran_order_or_compressed_is_read_too(tmp_path: Path) -> None:
    arrays = {name: np.asfortranarray(array) for name, array in arrays_of(make_model()).items()}
    arrays["format_version"] = np.int64(FORMAT_VERSION)
    arrays["clipped"] = np.int64(0)
    arrays["normalizer_kind"] = np.str_("standard")
    np.savez_compressed(tmp_path / "model.npz", **arrays)
    assert model_bytes(load_model(tmp_path / "model.npz")) == model_bytes(make_model())


def test_what_a_model_does_not_have_is_not_in_its_file() -> None:
    assert {"rejection", "sharpness", "threshold"}.isdisjoint(arrays_of(plain_model()))


def test_label_sets_and_very_many_classes_are_never_unknown() -> None:
    model = with_rules(plain_model(), Rejection(score=0.25))
    with refused_by("model.policy"):
        with_rules(model, LabelSets(0.5))
    many = np.zeros((256, model.head.n_prototypes), np.float32)
    names = tuple(f"class {label}" for label in range(256))
    with refused_by("policy.rejection.rule"):
        replace(model, labels=many, classes=names)


def test_features_beyond_the_ends_count_as_these_where_a_model_clips() -> None:
    model = plain_model()
    ends = np.stack([model.inputs.lower, model.inputs.upper])
    beyond = ends + np.array([[-10.0], [10.0]])
    clipped = replace(model, clipped=True)

    assert np.array_equal(clipped.scores(beyond), model.scores(ends))
    assert not np.array_equal(model.scores(beyond), model.scores(ends))


def test_a_cutoff_comes_back_from_the_file_and_leaves_out_what_is_below(tmp_path: Path) -> None:
    whole = make_model()
    save_model(replace(whole, cutoff=0.5), tmp_path / "model.npz")
    cut = load_model(tmp_path / "model.npz")
    assert cut.head.cutoff == 0.5
    X = np.random.default_rng(0).normal(size=(200, whole.n_features))
    projected = whole.normalizer.apply(X) @ whole.head.projection.T.astype(np.float64)
    values = rbf(projected, whole.head.prototypes.astype(np.float64), whole.head.gamma)
    near = np.where(values >= 0.5, values, 0.0)
    assert near.any()
    assert (near != values).any()
    assert np.allclose(cut.scores(X), near @ whole.head.labels.T)


@pytest.mark.parametrize("cutoff", [-0.1, 1.0, np.nan])
def test_a_cutoff_that_is_none_is_refused(cutoff: float) -> None:
    with refused_by("kinds.protonn.head"):
        replace(make_model(), cutoff=cutoff)


def test_scores_are_those_of_the_averages() -> None:
    model = random_pooling_model(average_pooling((9, 8), (8, 8), (6, 4)))
    images = random_images(0, 30, model.features)
    averages = model.features.apply(images)
    plain = replace(model, features=None)
    np.testing.assert_allclose(model.scores(images), plain.scores(averages), rtol=1e-12)
    assert (model.n_features, model.n_inputs) == (72, 24)
    with pytest.raises(InputError, match="24 features, expected 72"):
        model.scores(averages)


def changed_head(**changes: Any) -> np.ndarray:
    """Return the JSON of the head of a model file with changes."""
    given = json.loads(arrays_of(make_model())["head"].tobytes())
    return np.frombuffer(json.dumps(given | changes).encode(), np.uint8)


def test_a_file_that_was_written_long_ago_is_read_as_it_was() -> None:
    """Of pooled images, with a rejection, and with the activity that files had then."""
    model = load_model(Path(__file__).parent / "format_9.npz")
    assert isinstance(model.head, ProtoNNHead)
    assert (model.features.n_outputs, model.head.n_prototypes) == (16, 12)
    assert quantize(model).model_sha256.startswith("a1afbe15ca1dd9e3")


@pytest.mark.parametrize(
    "changes",
    [
        {"format_version": None},
        {"format_version": np.float64(7)},
        {"format_version": np.int64(FORMAT_VERSION + 1)},
        {"format_version": np.int64(FORMAT_VERSION - 1)},
        {"head": changed_head(projection_bits=5)},
        {"head": changed_head(projection_bits=4.0)},
        {"head": changed_head(voters={"kind": "other"})},
        {"normalizer_kind": np.str_("other")},
        {"normalizer_kind": np.str_("l2")},  # which has no offsets
        {"raw_exponents": np.full(5, 37)},
        {"raw_exponents": np.full(5, -(2**63))},
        {"rejection": np.array([1.0])},
        {"rejection": np.array([np.nan, 1.0, 0.0])},
        {"rejection": np.array([0.0, 0.0, 0.0])},
        {"rejection": np.array([0.0, 2.0, 0.0])},
        {"rejection": np.zeros(3, np.int64)},
        {"threshold": np.array([np.nan])},
        {"threshold": np.array([0.5, 0.5])},
        {"threshold": np.array([1])},
        {"inputs_lower": np.full(5, 100.0)},
        {"inputs_deviation": np.full(5, -1.0)},
        {"classes": np.array(["a", "b" * 200])},
        {"classes": np.array(["a", "a"])},
        {"classes": np.array(["a", "\x1b[31m"])},
        {"classes": np.array([1, 2])},
        {"record": np.zeros(2**20 + 1, dtype=np.uint8)},
    ],
)
def test_a_file_with_a_wrong_array_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = write_arrays(tmp_path / "model.npz", **changes)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18)]
)
def test_what_is_not_a_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with refused_by("model.file", "data.files.archive", "system.files"):
        load_model(path)


def test_what_is_not_there_or_not_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_model(tmp_path / "missing.npz")
    with pytest.raises(InputError, match="is a folder; name a model file"):
        load_model(tmp_path)
    with pytest.raises(InputError):
        load_model(Path("/dev/zero"))


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with path.open("wb") as stream:
        stream.truncate(MODEL_LIMIT_BYTES + 1)
    with refused_by("system.files"):
        load_model(path)


def test_a_zip_bomb_is_refused_without_unpacking_it(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.projection.npy", bytes(200 * 2**20))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(InputError, match="unpacked bytes of .*: 209,715,200"):
        load_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("sharpness", [0.0, -1.0, np.inf, np.nan])
def test_a_sharpness_that_no_softmax_has_is_refused(sharpness: float) -> None:
    with refused_by("policy.confidence.rule"):
        with_rules(make_model(), Sharpness(sharpness))
