"""All benchmarks: the module of each, the pages that cite it, and the rows that they show.

`tests/laws/docs/test_benchmarks.py` compares this list with the benchmarks and the pages: what no
page cites has to go. Of a row in `stored.json`, one line of the page has to have the cells below
the headings that are `shown`.
"""

from __future__ import annotations

from typing import NamedTuple

EVERY = None  # row


class Entry(NamedTuple):
    """A benchmark: `BENCHMARKS` of its module has it; pages are files of docs/, with their rows."""

    module: str
    pages: dict[str, tuple[str, ...] | None]
    shown: tuple[str, ...] = ()


_CYCLES = ("cycles mean (max)", "flash B")
_SRAM = "SRAM + stack B"
_WINDOWS = ("magic_wand", "gunpoint", "ecg5000", "vibration")
_LISTS = ("auto", "usual", "default", "kernels", "samples")
_GENERATED = ("shapes", "modulated", "noises")
_DIGITS = ("digits-pixels-1000", "digits-gradients-4x4-1000")
_MNIST = ("averages-9x9-2000", "averages-9x9-5200", "gradients-4x4-4-2000", "gradients-4x4-5200")

INDEX: dict[str, Entry] = {
    "ablations": Entry("protonn_rows", {"training.md": EVERY}),
    "audio": Entry("audio", {"audio.md": EVERY, "results.md": EVERY, "tutorial-word.md": EVERY}),
    "basis_images": Entry("basis_images", {"research.md": EVERY}),
    "basis_images_experiments": Entry("basis_images", {"research.md": EVERY}),
    "boards": Entry(
        "protonn_rows",
        {"boards.md": EVERY},
        ("board", "chip", "points", "mismatches", "plan", "ms", *_CYCLES, _SRAM),
    ),
    "boards32": Entry(
        "boards32",
        {"boards.md": EVERY},
        ("model", "accuracy %", "M0+ cycles (max)", "M4 cycles (max)", "M0+ B", "M4 B"),
    ),
    "bonsai": Entry("kind_rows", {"kinds.md": EVERY}, ("Uno %", "model B", *_CYCLES)),
    "budgets": Entry("protonn_rows", {"training.md": EVERY}),
    "cascade": Entry(
        "cascade",
        {"kinds.md": EVERY},
        ("passed on %", "mean cycles", "second alone", "flash B"),
    ),
    "conversion": Entry("conversion", {"conversion.md": EVERY}),
    "cores": Entry("cores", {"boards.md": EVERY}),
    "days": Entry("days", {"data.md": EVERY}, ("n", "warned")),
    "dense": Entry("kind_rows", {"kinds.md": EVERY}, ("Uno %", "weights", *_CYCLES)),
    "drift": Entry("drift", {"rejection.md": EVERY}),
    "drift_costs": Entry("drift", {"rejection.md": EVERY}),
    "end_to_end": Entry(
        "protonn_rows",
        {"results.md": EVERY, "kinds.md": ()},
        ("model", "Uno %", "points", "ms", "mJ", *_CYCLES, _SRAM),
    ),
    "families": Entry("kind_rows", {"kinds.md": EVERY}, ("folds %", "model B", "Uno %", "flash B")),
    "features": Entry(
        "feature_rows",
        {
            "image-features.md": (*_DIGITS, *(f"mnist-{each}" for each in _MNIST)),
            "sensors.md": (
                *(f"{name}-{each}" for name in _WINDOWS for each in _LISTS),
                *(f"{name}-{each}" for name in _GENERATED for each in ("auto", "usual", "kernels")),
            ),
        },
        ("integers %",),
    ),
    "few_windows": Entry("counted_kernels", {"sensors.md": EVERY}),
    "figures": Entry("kind_rows", {"../CONTRIBUTING.md": EVERY}),
    **{
        f"default_{name}": Entry("defaults", {page: EVERY})
        for name, page in (
            ("kind", "which-model.md"),
            ("number", "values.md"),
            ("clip", "training.md"),
            ("forest", "kinds.md"),
        )
    },
    **{
        name: Entry(f"reproduction.{name}", {"research.md": EVERY})
        for name in ("figure1", "figure2", "figure3", "figure4", "figure5")
    },
    "forest": Entry("kind_rows", {"kinds.md": EVERY}, ("Uno %", "model B", *_CYCLES)),
    "gallery": Entry("gallery", {"../Makefile": EVERY}),
    "groups": Entry("protonn_rows", {"training.md": EVERY}),
    "harness": Entry("harness", {"harness.md": EVERY}),
    "imported": Entry(
        "imported",
        {
            "conversion.md": (
                *("letter26-xgboost", "har_hapt-lightgbm", "usps10-histogram"),
                *("pytorch-mlp-har_hapt", "pytorch-cnn-usps10", "pytorch-cnn-mnist10"),
                "keras-cnn-usps10",
            ),
        },
        ("library %", "Uno %", "equal %", "flash B"),
    ),
    "leaks": Entry("leaks", {"data.md": EVERY}),
    "kernel_exactness": Entry("counted_kernels", {"sensors.md": EVERY}),
    "labels": Entry(
        "protonn_rows",
        {"results.md": ("delicious", "bibtex"), "values.md": ("bibtex-mega2560",)},
        ("float P@1/3/5 %",),
    ),
    "levels": Entry("levels", {"certificate.md": EVERY}),
    "linear": Entry("kind_rows", {"kinds.md": EVERY}, ("Uno %", *_CYCLES)),
    "machines": Entry("machines", {"data.md": EVERY}),
    "measure_sketch": Entry("measure_sketch", {"any-board.md": EVERY}),
    "meters": Entry("meters", {"harness.md": EVERY}),
    "micropython": Entry("micropython", {"micropython.md": EVERY}),
    "networks": Entry("feature_rows", {"image-features.md": EVERY}, ("Uno %", "flash B")),
    "one_class": Entry(
        "one_class",
        {"rejection.md": EVERY},
        (
            *("data set", "requested %", "false alarms %", "detected %"),
            "official part: false alarms, detected %",
            *_CYCLES,
        ),
    ),
    "peers": Entry("peers", {"results.md": EVERY}),
    "presets": Entry(
        "protonn_rows",
        {
            "image-features.md": (
                *("mnist10-gradients", "mnist10-gradients-5kB", "mnist10-gradients-2kB"),
                "usps10-gradients-2kB",
            ),
            "kinds.md": ("mnist2-2kB",),
            "results.md": (
                *("letter26", "usps10", "usps10-2kB", "mnist10-16kB", "mnist10-gradients-2kB"),
                *("har", "watch", "fsdd", "gesturepod", "ecg5000", "usps10-gradients"),
            ),
            "generated-code.md": (),
        },
        ("kB", "model B", "float %", "Uno %"),
    ),
    "proof": Entry("proof", {"certificate.md": EVERY}),
    "proven": Entry("proof", {"certificate.md": EVERY}),
    "records": Entry("records", {"image-features.md": EVERY}),
    "rejection": Entry("rejection", {"rejection.md": EVERY}),
    "speakers": Entry("speakers", {"audio.md": EVERY}),
    "table1": Entry("reproduction.tables", {"research.md": EVERY}),
    "table2": Entry("reproduction.tables", {"research.md": EVERY}),
    "teaching": Entry("teaching", {"teaching.md": EVERY}),
    "teaching_cycles": Entry("teaching", {"teaching.md": EVERY}),
    "tflite": Entry("tflite_outputs", {"conversion.md": EVERY}),
    "tflite_uno": Entry("tflite_outputs", {"conversion.md": EVERY}, ("ms", "flash B", _SRAM)),
    "value_peers": Entry("values", {"values.md": EVERY}),
    "values": Entry("values", {"values.md": EVERY}),
    "voices": Entry("voices", {"audio.md": EVERY}),
    "which_model": Entry("which_model", {"which-model.md": EVERY}),
    "windows": Entry(
        "feature_rows",
        {"sensors.md": ("magic_wand", "har", "ecg5000"), "results.md": ("har",)},
        ("float %", "Uno %", "averages %", "ms", "flash B", _SRAM),
    ),
}
