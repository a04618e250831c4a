"""Model files whose arrays lack dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import run
from refusals import refuses

from protonn_edge.extensions.research.kinds.bonsai.train import LocalDeepKernelClassifier
from protonn_edge.model.file import save_model


@pytest.fixture
def changed(tmp_path):
    """Return a function that writes a model with other arrays and returns the file."""

    def write(model, **arrays):
        path = tmp_path / "model.npz"
        save_model(model, path)
        with np.load(path) as archive:
            kept = {name: archive[name] for name in archive.files}
        np.savez(path, **{**kept, **arrays})
        return path

    return write


def test_weights_without_dimensions_are_refused(changed):
    rng = np.random.default_rng(0)
    classifier = LocalDeepKernelClassifier(depth=1, epochs=1, random_state=0)
    model = classifier.fit(rng.normal(size=(20, 3)), np.arange(20) % 2).to_model()
    refuses(run("inspect", changed(model, **{"head.weights": np.float32(1)})), "branches")
