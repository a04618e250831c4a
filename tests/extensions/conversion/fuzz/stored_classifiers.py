"""Files of networks and boosters: one is refused in one sentence, or read.

What was read of a booster answers each point, and a small network becomes a model.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from extensions.conversion.files import BOOSTERS, NETWORKS
from extensions.conversion.onnx_factory import network, stated, written
from extensions.conversion.test_quantized_onnx import NETWORKS as QUANTIZED
from laws.fuzz.mutation import mutated_bytes, mutated_text, pick
from laws.fuzz.sentences import REFUSALS, check_refusal
from row_tables import rows

from protonn_edge import from_network
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.extensions.conversion.trees.libraries import load_booster

BRIEF_CASES = 600

QUICK = "several"  # the network that is converted within a tenth of a second
_DATA = BOOSTERS.parent
_MARKS = ",;\t\n =[]{}-9e"


def run_case(seed: int, folder: Path) -> None:
    """Read a changed file, and use what was read if that is quick."""
    rng = np.random.default_rng(seed)
    name, content = pick(rng, _files())
    try:
        if (BOOSTERS / name).exists():
            path = folder / name
            path.write_bytes(_changed(rng, name, content))
            X = rng.normal(3, 2, (20, 30 if "cancer" in name else 4)).astype(np.float32)
            answers = read_estimator(load_booster(path), X.shape[1]).answers(X)
            assert len(answers) == len(X), "a point has no answer"
        elif name == QUICK:
            from_network(_changed(rng, name, content), rng.normal(size=(30, 6)))
        else:
            load_network(_changed(rng, name, content), "the file")
    except REFUSALS as error:
        check_refusal(error)


def _changed(rng: np.random.Generator, name: str, content: bytes) -> bytes:
    """Return a changed file: texts and numbers of a text, else bytes or an offset."""
    if name == QUICK:  # a single byte, so that it is often read
        place = int(rng.integers(len(content)))
        return content[:place] + rng.bytes(1) + content[place + 1 :]
    if name.endswith((".json", ".txt")) and rng.random() < 0.5:
        return mutated_text(rng, content.decode(), _MARKS).encode("utf-8", "replace")
    if name.endswith(".tflite") and rng.random() < 0.5:
        place = 2 * int(rng.integers(len(content) // 2 - 1))
        wrong = pick(rng, (b"\xff" * 4, b"\xf0\xff\xff\x7f"))
        return content[:place] + wrong + content[place + 4 :]
    return mutated_bytes(rng, content)


@functools.cache
def _files() -> list[tuple[str, bytes]]:
    """Return files of libraries, and small networks with all operators."""
    ends = (".onnx", ".tflite", ".json", ".ubj", ".txt")
    paths = sorted(path for path in _DATA.rglob("*") if path.suffix in ends)
    found = [(path.name, path.read_bytes()) for path in paths if path.name != "answers.json"]
    for name, nodes, given in rows(NETWORKS, "ONNX that is read"):
        found.append((name, network(written(nodes), **stated(given))))
    return [*found, *((name, make().content()) for name, make in QUANTIZED.items())]
