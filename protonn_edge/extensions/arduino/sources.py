"""The firmware on top of an Arduino core or in a program in C, for projects and for libraries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protonn_edge.codegen.families.sources import files_below, files_of_every_firmware
from protonn_edge.codegen.renderer import with_prefix
from protonn_edge.system.files import as_bytes

_HERE = Path(__file__).parent
# What it has in common with the firmware of an AVR.
_SHARED = (
    *("frame.c", "frame.h", "requests.c", "requests.h", "replies.h"),
    *("prediction.h", "optimize_size.h", "teaching.h"),
)
_SKETCH = """/*
 * Lets protonn-edge measure the model on this board. Upload this sketch, close the serial monitor,
 * and run on the computer, with the model's file and labelled points:
 *
 *     protonn-edge hil data.csv --model model.npz --port PORT
 *
 * It gives the accuracy, compares all scores, and measures the time of a prediction.
 */
#include <{name}.h>

// setup() and loop() are in harness.cpp.
"""
_MODEL = """#ifndef MODEL_H
#define MODEL_H

#include {header}

#include "clock.h"
#define PREDICTION_HOLDS_FEATURES 1

#endif
"""
_PARTS = """#ifndef PARTS_H
#define PARTS_H

#include "bench.h"

#define PARTS(hook) hook(bench)

#endif
"""


def files_on_core(port: str, shared: str) -> dict[str, bytes | str]:
    """Return the firmware: its own files, and those of every firmware, in these folders."""
    return {**files_of_every_firmware(_SHARED, shared), **files_below(_HERE / "port", port)}


def small_core(place: str) -> dict[str, bytes | str]:
    """Return the Arduino core for machines of QEMU."""
    return files_below(_HERE / "core", place)


def measure_sketch(name: str, prefix: str) -> dict[str, str]:
    """Return the sketch *Measure* of a library with this name and prefix of C names."""
    folder = "examples/Measure"
    sketch = {f"{folder}/Measure.ino": _SKETCH.format(name=name)}
    return _of_library(folder, "<pnn_model.h>", prefix) | sketch


def measure_function(prefix: str) -> dict[str, str]:
    """Return the function that measures, for plain C with this prefix of names."""
    folder = "measure"
    texts = _of_library(folder, '"../pnn_model.h"', prefix)
    del texts[f"{folder}/harness.cpp"]
    return texts | _with_prefix(files_below(_HERE / "plain", folder), prefix)


def _of_library(folder: str, header: str, prefix: str) -> dict[str, str]:
    texts = {
        **files_on_core(folder, folder),
        f"{folder}/model.h": _MODEL.format(header=header),
        f"{folder}/parts.h": _PARTS,
    }
    del texts[f"{folder}/teaching.h"]
    return _with_prefix(texts, prefix)


def _with_prefix(texts: Mapping[str, bytes | str], prefix: str) -> dict[str, str]:
    return {path: with_prefix(as_bytes(text).decode(), prefix) for path, text in texts.items()}
