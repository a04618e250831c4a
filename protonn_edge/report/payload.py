"""The data for the page's script: points, their display, and the Uno's firmware."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.decision.rejection import UNKNOWN
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.quantization import MODEL_HASH_BYTES
from protonn_edge.report.plane import plane_of
from protonn_edge.report.points import Levels, chosen_points, levels_of, trace_of, typical_drawing

_MOST_SLIDERS = 64
_DIGITS = 5  # of the numbers of a map that gives places in px
_PER_POINT = ("index", "label", "predicted", "cycles", "scores")


def payload(one: Evidence, *, runs: bool) -> dict[str, Any]:
    """Return the data for ``web/page.js``, as JSON types.

    Parameters
    ----------
    one : Evidence
        The run.
    runs : bool
        Whether the firmware can run in the page.
    """
    points = chosen_points(one)
    reference, levels = one.reference, levels_of(one)
    trace = trace_of(one)
    names = [] if one.image_shape is not None or trace is not None else _names(one)
    fed = b""
    if one.points is not None:
        fed = one.points.fed[[point.index for point in points]].tobytes()
    return {
        "program": base64.b64encode(one.firmware.program).decode() if runs else None,
        "model": {
            "hash": reference.model_sha256[: 2 * MODEL_HASH_BYTES],
            "features": reference.n_features,
            "names": names,
            "classes": list(reference.classes),
            "unknown": UNKNOWN if reference.rejection is not None else None,
            "maximum": reference.features.maximum,
            "zero": _once(reference.features.zero),
            "step": _once(reference.features.step),
        },
        "board": {"clockHz": one.board.clock_hz, "watts": one.board.power_watts},
        "shape": _shape(one),
        "channels": trace
        and {
            "names": list(trace.channels),
            "colours": [colour for colour, _ in trace.key] or ["ink"],
            "rate": trace.rate,
        },
        "levels": {
            "lower": _once(levels.lower),
            "upper": _once(levels.upper),
            "ink": [levels.lower[0], levels.upper[0]] if levels.pixels else None,
            "shown": [_blank(one, levels), levels.upper[0]] if levels.pixels else None,
        },
        "sliders": _sliders(one) if 0 < len(names) <= _MOST_SLIDERS else None,
        "plane": _plane(one),
        "counts": one.confusion.tolist(),
        "points": [{name: getattr(point, name) for name in _PER_POINT} for point in points],
        "pointBytes": base64.b64encode(fed).decode(),
    }


def _names(one: Evidence) -> list[str]:
    model = one.model
    return list(model.feature_names or (f"feature {i}" for i in range(model.n_features)))


def _plane(one: Evidence) -> dict[str, Any] | None:
    """Return the affine map to a position in the plane, if there is one."""
    plane = plane_of(one, chosen_points(one))
    if plane is None or plane.weights is None:
        return None
    short = [[float(f"{x:.{_DIGITS}g}") for x in row] for row in plane.weights.tolist()]
    return {"source": plane.source, "weights": short, "offset": plane.offset.round(2).tolist()}


def _shape(one: Evidence) -> dict[str, Any] | None:
    if one.image_shape is None:
        return None
    drawing = asdict(typical_drawing(one))
    pen = drawing.pop("pen")
    rows, columns = one.image_shape
    return {"rows": rows, "columns": columns, "pen": pen, "box": drawing}


def _sliders(one: Evidence) -> dict[str, Any]:
    """Return the ends of a slider per feature: the shortest numbers equal in float32, as data."""
    inputs = one.model.inputs
    ends = {"lower": inputs.lower, "upper": inputs.upper, "start": inputs.mean}
    return {
        name: [float(str(np.float32(value))) for value in values.tolist()]
        for name, values in ends.items()
    }


def _blank(one: Evidence, levels: Levels) -> float:
    """Return the raw value of paper after quantization, which is never in a dead zone."""
    features = one.reference.features
    from_paper = np.sign(features.step) == np.sign(levels.upper[0] - levels.lower[0])
    return float(np.median(features.zero[from_paper])) if from_paper.any() else levels.lower[0]


def _once(values: NDArray[np.float64]) -> list[float]:
    """Return the values, or only one if all are equal."""
    everywhere: list[float] = values.tolist()
    return everywhere[:1] if len(set(everywhere)) == 1 else everywhere
