"""Models of other programs: one is refused in one sentence, or becomes a model that works."""

from __future__ import annotations

import functools
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from laws.fuzz.mutation import mutated_array, mutated_bytes, mutated_json, mutated_text, pick
from laws.fuzz.sentences import REFUSALS, check_refusal
from model_factory import random_model
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from protonn_edge.extensions.conversion import LAYOUTS
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.protonn.reference import (
    from_reference,
    read_reference_model,
    to_reference,
    write_reference_model,
)
from protonn_edge.extensions.conversion.reading import load_estimator
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model

BRIEF_CASES = 10

_CLASSES = ("a", "b", "c")


def run_case(seed: int, folder: Path) -> None:
    """Convert a changed file of an estimator, or a changed folder of the reference's matrices."""
    rng = np.random.default_rng(seed)
    try:
        model = _of_folder(rng, folder) if rng.random() < 0.4 else _of_estimator(rng, folder)
        _check(model, folder)
    except REFUSALS as error:
        check_refusal(error)


def _check(model: Model, folder: Path) -> None:
    X = _points()[0]
    assert np.isfinite(model.scores(X)).all(), "a converted model has scores that are no numbers"
    save_model(model, folder / "model.npz")
    again = load_model(folder / "model.npz")
    assert np.array_equal(again.scores(X), model.scores(X)), "a saved model has other scores"
    if isinstance(model.head, ProtoNNHead) and not model.clipped:
        to_reference(model, "normalized")


# --- estimators of scikit-learn -------------------------------------------------------------------


def _of_estimator(rng: np.random.Generator, folder: Path) -> Model:
    path = folder / "estimator.skops"
    content = pick(rng, _stored())
    if rng.random() < 0.1:
        path.write_bytes(mutated_bytes(rng, content))
    else:
        path.write_bytes(_changed_archive(rng, content))
    X, y = _points()
    epochs = int(rng.random() < 0.02)
    return from_sklearn(load_estimator(path), X, np.array(_CLASSES)[y], epochs=epochs).model


def _changed_archive(rng: np.random.Generator, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = sorted(name for name in members if name.endswith(".npy"))
    for _ in range(int(rng.choice([1, 1, 2]))):
        if arrays and rng.random() < 0.4:
            name = pick(rng, arrays)
            members[name] = _changed_npy(rng, members[name])
        else:
            schema = json.loads(members["schema.json"])
            members["schema.json"] = json.dumps(mutated_json(rng, schema)).encode()
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, each in members.items():
            archive.writestr(name, each)
    return changed.getvalue()


def _changed_npy(rng: np.random.Generator, content: bytes) -> bytes:
    chance = rng.random()
    if chance < 0.2:
        return mutated_bytes(rng, content[:128]) + content[128:]
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # noqa: BLE001  (it was changed before, and numpy fails in many ways)
        return content
    changed = io.BytesIO()
    np.lib.format.write_array(changed, np.asarray(mutated_array(rng, array)), allow_pickle=True)
    return changed.getvalue()


@functools.cache
def _stored() -> tuple[bytes, ...]:
    io_of_skops: Any = __import__("skops.io").io
    X, y = _points()
    names = np.array(_CLASSES)[y]
    return tuple(
        io_of_skops.dumps(estimator.fit(X, names))
        for estimator in (
            SVC(),
            NearestCentroid(),
            KNeighborsClassifier(algorithm="brute"),
            make_pipeline(StandardScaler(), LogisticRegression()),
            make_pipeline(MinMaxScaler(), SVC(break_ties=True)),
            RandomForestClassifier(2, random_state=0),
            GradientBoostingClassifier(n_estimators=2, random_state=0),
        )
    )


@functools.cache
def _points() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = rng.normal(size=(45, 4)) + y[:, None] * (1, 2, 0, -1)
    return X.astype(np.float32), y


# --- folders of the reference implementation ------------------------------------------------------


def _of_folder(rng: np.random.Generator, folder: Path) -> Model:
    there = folder / "matrices"
    model = random_model(int(rng.integers(3)), features=4, classes=3)
    write_reference_model(to_reference(model), there, pick(rng, LAYOUTS))
    for _ in range(int(rng.choice([1, 1, 2]))):
        _change_file(rng, pick(rng, sorted(there.iterdir())))
    read = read_reference_model(there)
    shutil.rmtree(there)
    normalization = pick(rng, ("none", "standard", "l2"))
    return from_reference(read, _points()[0], normalization, _CLASSES)


def _change_file(rng: np.random.Generator, path: Path) -> None:
    content, chance = path.read_bytes(), rng.random()
    if path.suffix == ".npy":
        path.write_bytes(_changed_npy(rng, content))
    elif chance < 0.8:
        path.write_text(mutated_text(rng, content.decode(errors="replace"), "\t ,\n"), "utf-8")
    else:
        path.write_bytes(mutated_bytes(rng, content))
