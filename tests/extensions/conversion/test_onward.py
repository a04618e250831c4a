"""Models written as ONNX: onnxruntime computes the integers of NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import succeed
from judging_rules import Weak, both_orders, judged_by_both
from laws.conformance.instances import KINDS, instances_of
from model_factory import random_model

from protonn_edge import to_onnx
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

onnx = pytest.importorskip("onnx", reason="pip install 'protonn-edge[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")

FEATURES = {"audio", "window_features"}
"""Kinds of stages that are not written."""


def session_of(content: bytes) -> Any:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, settings)


def assert_equal_in_onnx(chain: IntegerChain, Q: np.ndarray, content: bytes | None = None) -> None:
    answers, scores = session_of(content or to_onnx(chain)).run(["class", "scores"], {"bytes": Q})
    classes, expected = chain.answers(Q)
    assert np.array_equal(scores, expected)
    assert np.array_equal(answers[:, 0], classes)


@pytest.mark.parametrize("kind", sorted({*KINDS} - FEATURES))
def test_onnxruntime_computes_the_same_integers(kind: str):
    rng, written = np.random.default_rng(0), 0
    for instance in instances_of(kind):
        chain, points = instance.model, instance.points
        if not FEATURES.isdisjoint(stage.kind for stage in chain.feature_stages):
            continue
        some = rng.integers(0, chain.quantizer.maximum + 1, (30, points.shape[1]))
        assert_equal_in_onnx(chain, np.concatenate([points, some.astype(np.uint8)]))
        written += 1
    assert written


@pytest.mark.parametrize("kind", sorted(FEATURES))
def test_other_features_are_refused_in_a_sentence(kind: str):
    words = f"has the stage '{kind.replace('_', ' ')}'"
    with pytest.raises(InputError, match=words) as caught:
        to_onnx(instances_of(kind)[0].model)
    assert "\n" not in str(caught.value)


def test_others_can_make_the_bytes(tmp_path: Path):
    """`convert` writes a file that the standard allows, with all that a program needs to know."""
    save_model(random_model(), tmp_path / "model.npz")
    model = load_model(tmp_path / "model.npz")
    succeed("convert", tmp_path / "model.npz", "-o", tmp_path / "model.onnx")
    content = (tmp_path / "model.onnx").read_bytes()
    assert content == to_onnx(model)
    onnx.checker.check_model(content, full_check=True)
    facts = session_of(content).get_modelmeta().custom_metadata_map
    chain = quantize(model)
    assert json.loads(facts["classes"]) == list(model.classes)
    assert facts["model_sha256"] == chain.model_sha256
    X = 2 * np.random.default_rng(0).normal(size=(40, chain.n_features))
    zero, step, maximum = (np.array(json.loads(facts[n])) for n in ("zero", "step", "maximum"))
    Q = np.clip(np.floor((X - zero) / step + 0.5), 0, maximum).astype(np.uint8)
    assert np.array_equal(Q, chain.quantize(X))
    assert_equal_in_onnx(chain, Q, content)


def test_a_file_made_before_is_replaced(tmp_path: Path):
    model, target = tmp_path / "model.npz", tmp_path / "model.onnx"
    save_model(random_model(), model)
    for _ in range(2):
        succeed("convert", model, "-o", target)


@both_orders
def test_of_two_rules_that_judge_the_first_decides(rule: type[Weak], decides: int):
    chain, Q, by_both = judged_by_both(rule)
    assert_equal_in_onnx(chain, Q)
    assert set(chain.predict(Q[by_both]).tolist()) == {decides}
