"""What the Uno in the page is given: the firmware, how inputs become bytes, and test points."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.hil import Result
from protonn_edge.quantization import MODEL_HASH_BYTES
from protonn_edge.report.ink import levels_of, typical_drawing

_POINT_BYTES = 64_000  # of all test points in a page
_MOST_POINTS, _LEAST_POINTS = 200, 20
_MOST_SLIDERS = 64


def payload(one: Evidence) -> dict[str, Any]:
    """Return what the script of the page reads, as JSON can hold it; ``web/page.js`` knows it."""
    points = chosen_points(one)
    reference, levels = one.reference, levels_of(one)
    fed = b""
    if one.points is not None:
        fed = one.points.fed[[point.index for point in points]].tobytes()
    return {
        "program": base64.b64encode(one.firmware.program).decode(),
        "model": {
            "hash": reference.model_sha256[: 2 * MODEL_HASH_BYTES],
            "features": reference.n_features,
            "classes": list(reference.classes),
            "maximum": reference.features.maximum,
            "zero": _once(reference.features.zero),
            "step": _once(reference.features.step),
        },
        "board": {"clockHz": one.board.clock_hz, "watts": one.board.power_watts},
        "shape": _shape(one),
        "levels": {
            "lower": _once(levels.lower),
            "upper": _once(levels.upper),
            "ink": [levels.lower[0], levels.upper[0]] if levels.pixels else None,
            "shown": [_blank(one), levels.upper[0]] if levels.pixels else None,
        },
        "sliders": _sliders(one),
        "points": [
            {
                "index": point.index,
                "label": point.label,
                "predicted": point.predicted,
                "cycles": point.cycles,
                "scores": point.scores,
            }
            for point in points
        ],
        "pointBytes": base64.b64encode(fed).decode(),
    }


def chosen_points(one: Evidence) -> list[Result]:
    """Return results of points to pick from: evenly from all, and in them every kind of mistake.

    There are as many as fit the page; of few points all are there.
    """
    answered = one.answered
    if one.points is None or not answered:
        return []
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _POINT_BYTES // one.reference.n_features))
    if len(answered) <= most:
        return answered
    evenly = {answered[i].index for i in np.linspace(0, len(answered) - 1, most).astype(int)}
    mistakes = [r for r in answered if r.predicted != r.label][: most // 4]
    for result in mistakes:
        evenly.add(result.index)
    return [result for result in answered if result.index in evenly]


def _shape(one: Evidence) -> dict[str, Any] | None:
    if one.image_shape is None:
        return None
    drawing = asdict(typical_drawing(one))
    pen = drawing.pop("pen")
    rows, columns = one.image_shape
    return {"rows": rows, "columns": columns, "pen": pen, "box": drawing}


def _sliders(one: Evidence) -> dict[str, Any] | None:
    """Return the ends of a slider per feature, where that is a way to enter them."""
    n = one.model.n_features
    if one.image_shape is not None or n > _MOST_SLIDERS:
        return None
    inputs = one.model.inputs
    names = one.model.feature_names or tuple(f"feature {i}" for i in range(n))
    return {
        "names": list(names),
        "lower": inputs.lower.tolist(),
        "upper": inputs.upper.tolist(),
        "start": inputs.mean.tolist(),
    }


def _blank(one: Evidence) -> float:
    """Return the raw value that paper has once it was a byte, which is none in a dead zone."""
    levels, features = levels_of(one), one.reference.features
    from_paper = np.sign(features.step) == np.sign(levels.upper[0] - levels.lower[0])
    return float(np.median(features.zero[from_paper])) if from_paper.any() else levels.lower[0]


def _once(values: NDArray[np.float64]) -> list[float]:
    """Return the values, or only one where all are the same."""
    everywhere: list[float] = values.tolist()
    return everywhere[:1] if len(set(everywhere)) == 1 else everywhere
