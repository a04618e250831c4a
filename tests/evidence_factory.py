"""Evidence for tests of the report, made by hand: no firmware has to be built for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from model_factory import random_model, random_points

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.device.results import Origin, Result
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, stage_losses
from protonn_edge.model.shapes import Shape
from protonn_edge.report.evidence import Evidence, EvidencePoints, Firmware

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "*/ #error",
    '" onload="alert(2)',
    "{{ 7 * 7 }}",
)
"""Names of classes that would break out of a page or of a comment in C."""


def hostile_model(seed: int = 0) -> Model:
    """Return a model of 12 features and 4 classes with names that want to break out."""
    features = tuple(f"--><script>alert({i})</script>" for i in range(12))
    return replace(random_model(seed), classes=HOSTILE, feature_names=features)


def evidence_of(
    model: Model, n: int = 60, *, name: str = "results.csv", shape: Shape | None = None
) -> Evidence:
    """Return evidence of n random points that the reference answered, with labels at random."""
    reference = quantize(model)
    raw = random_points(7, n, model.n_features).astype(np.float32)
    fed = reference.quantize(raw)
    scores = reference.scores(fed)
    said = scores.argmax(axis=1)
    rng = np.random.default_rng(7)
    labels = np.where(rng.random(n) < 0.8, said, rng.integers(0, model.n_classes, n))
    plan, board = make_plan(reference), load_board("uno")
    possible = PossibleCycles(2_000, 5_000, proven=True)
    results = tuple(
        Result(i, int(labels[i]), int(said[i]), 3000 + 7 * i, False, tuple(scores[i].tolist()), "x")
        for i in range(n)
    )
    return Evidence(
        name=name,
        origin=Origin.of(reference, fed, labels),
        results=results,
        board=board,
        model=model,
        reference=reference,
        firmware=Firmware(b"\x0c\x94", "ab" * 32, Sections(5000, 10, 300), usage(), plan, possible),
        points=EvidencePoints(
            raw,
            fed,
            labels,
            reference.quantizer.saturations(raw),
            stage_losses(model, raw, labels),
        ),
        image_shape=shape,
    )


def usage() -> Usage:
    """Return what some firmware takes."""
    return Usage(flash_bytes=5010, sram_bytes=310, stack_bytes=80, stack_path=("main",))
