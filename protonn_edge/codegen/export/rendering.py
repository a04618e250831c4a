"""The files of an export, as text: the generated C, the self-test, and the tools' own files.

Every kind has the same sources; only the files around them differ.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from protonn_edge import __version__
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.context import (
    Sending,
    c_comment,
    class_names,
    float_context,
    input_names,
    model_id,
    safe_sendings,
)
from protonn_edge.codegen.export.self_test import KnownAnswers
from protonn_edge.codegen.export.sensor_windows import SensorWindows
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.renderer import PREFIX, check_collisions, render_c, template_environment
from protonn_edge.codegen.words import WordPlan
from protonn_edge.data.naming import channel_names
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.model.features import signal_of
from protonn_edge.model.head import channels_of, kind_title
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.registry import FUNCTIONS
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue, shortened
from protonn_edge.system.extensions import FirmwarePart, parts_of

Kind = Literal["arduino", "platformio", "c"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SKETCHES = ("Classify", "Stream", "SelfTest")
_CLASS_SKETCHES = ("Blink",)
_LIVE_SKETCH = "Live"
_WINDOWS_SKETCH = "Windows"  # for any chip and sensor
_BARE_SELF_TEST = "platformio/main.c.j2"
_HOST_SELF_TEST = "c/main.c"
_PACKAGES = ("CMakeLists.txt", "idf_component.yml", "zephyr/Kconfig", "zephyr/module.yml")
_VOTES = 3  # of it
ANALOG_PINS = 6  # of an Uno
_STANDS_FOR = "analogRead() stands in for your sensor"  # in a sketch
_LISTED_FEATURES = 64
_SKETCH_LINES = 16
_LONGEST_NAME = 255
_C_SUFFIXES = (".h", ".c", ".ino")
_SAMPLE_RATE = 100.0  # of sketches, if the model has none
# SRAM of a sketch in addition to the model and a buffer of features: the core's serial
# buffers and timers, and the stack; read off linked sketches and the emulator, with room.
SKETCH_SRAM_BYTES = 450

_LONGEST = 200
_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}")


@dataclass(frozen=True)
class Imprint:
    """Author, page and version of a library.

    Attributes
    ----------
    author : str
        A name, or "name <address>".
    url : str
        The library's page.
    version : str
        Of the library: three numbers with points, as the Arduino tools require.

    Raises
    ------
    InputError
        If a manifest cannot hold one of them.
    """

    author: str = "protonn-edge contributors"
    url: str = "https://proceedings.mlr.press/v70/gupta17a.html"
    version: str = __version__

    def __post_init__(self) -> None:
        for name, text in (("author", self.author), ("url", self.url)):
            check(
                text.isprintable() and 1 <= len(text.strip()) <= _LONGEST,
                f"the library's {name}",
                shortened(repr(text)),
                f"1 to {_LONGEST} printable characters",
            )
        if not re.match("https?://[^ ]+$", self.url):
            raise InvalidValue(
                "the library's url",
                f"{shortened(repr(self.url))}, expected an address that begins with https://",
            )
        check(
            _VERSION.fullmatch(self.version) is not None,
            "the library's version",
            shortened(repr(self.version)),
            "three numbers, such as 1.0.0",
        )


@dataclass(frozen=True)
class Library:
    """The contents of an export."""

    name: str  # as `library_name` gives it
    model: IntegerChain  # the model
    plan: Plan | WordPlan  # how its C computes
    vectors: KnownAnswers  # the test vectors of the self-test
    from_data: bool  # whether these are points of data, rather than made of the model
    feature_names: tuple[str, ...] = ()  # of the columns of the training data, or empty
    preparation: Preparation | None = None  # the preparation of the columns
    prefix: str = PREFIX  # the beginning of C names and files
    # the sensor that a sketch reads, and the windows that it makes
    windowing: SensorWindows | None = None
    imprint: Imprint = field(default_factory=Imprint)  # its author and version

    @cached_property
    def parts(self) -> tuple[FirmwarePart, ...]:
        """The parts of the model's code beside predictions."""
        return parts_of(self.model)

    @property
    def live_sketches(self) -> dict[str, str]:
        """The sketches that read the board's own sensor, and their templates."""
        if self.windowing is None:
            return {}
        if self.windowing.on_any_chip:
            return {_LIVE_SKETCH: f"sensors/{_LIVE_SKETCH}OnAnyChip.ino.j2"}
        sketches = {_LIVE_SKETCH: f"sensors/{_LIVE_SKETCH}.ino.j2"}
        if self.windowing.leaves_pins:
            for part in self.parts:
                sketches |= part.live_sketches
        return sketches


def render_export(kind: Kind, library: Library, board: Board) -> dict[str, str]:
    """Return the files of an export by their names, with ``/``: the same text on every machine.

    The board's SRAM decides whether an example holds all features. `InputError` for bad prefixes.
    """
    files = _rendered(kind, library, board)
    if library.prefix != PREFIX:
        usual = _rendered(kind, replace(library, prefix=PREFIX), board)
        sources = (text for name, text in usual.items() if name.endswith(_C_SUFFIXES))
        check_collisions(library.prefix, sources)
    return files


def render_bare_self_test(library: Library, board: Board) -> str:
    """Return the program that prints the self-test's result without a framework."""
    environment = template_environment("export", library.prefix)
    return environment.get_template(_BARE_SELF_TEST).render(_context("platformio", library, board))


def _rendered(kind: Kind, library: Library, board: Board) -> dict[str, str]:
    environment = template_environment("export", library.prefix)
    context = _context(kind, library, board)
    sources = render_c(library.model, library.plan, library.prefix)
    files = {_source(kind, name): text for name, text in sources.items()}
    templates = _templates(kind, library, board)
    if kind != "c" and context["windows"]:
        sketch = f"examples/{_WINDOWS_SKETCH}"
        templates[f"{sketch}/{_WINDOWS_SKETCH}.ino"] = f"{sketch}.ino"
    for name, template in templates.items():
        files[name] = environment.get_template(f"{template}.j2").render(context)
    if library.windowing is not None:
        windowing, plan = library.windowing, library.plan
        ring_samples = windowing.ring_samples(plan) if isinstance(plan, Plan) else 0
        live = context | windowing.context(ring_samples) | {"trained": ()}
        for sketch, template in library.live_sketches.items():
            text = environment.get_template(template).render(live)
            files[f"examples/{sketch}/{sketch}.ino"] = text
    return files


def _source(kind: Kind, name: str) -> str:
    return name if kind == "c" else f"src/{name}"


def _self_test_program(kind: Kind) -> str:
    """Return the file with the self-test for this computer; Arduino's tools compile no extras."""
    return "main.c" if kind == "c" else "extras/main.c"


def _templates(kind: Kind, library: Library, board: Board) -> dict[str, str]:
    """Return the template of each file except the generated C."""
    templates = {"README.md": "README.md", "LICENSE": "LICENSE"}
    templates |= {name: f"packages/{name}" for name in _PACKAGES}
    templates[_self_test_program(kind)] = _HOST_SELF_TEST
    for source in ("self_test.h", "self_test.c"):
        templates[_source(kind, f"{library.prefix}_{source}")] = f"src/{source}"
    if kind == "c":
        return templates | {"Makefile": "c/Makefile"}
    templates[f"src/{library.name}.h"] = "src/library.h"
    names = (
        (*_CLASS_SKETCHES, *_SKETCHES) if library.model.policy.predicts == "class" else _SKETCHES
    )
    sketches = {sketch: f"examples/{sketch}.ino.j2" for sketch in names}
    for part in library.parts:
        sketches |= part.sketches
    for sketch, template in sketches.items():
        templates[f"examples/{sketch}/{sketch}.ino"] = template.removesuffix(".j2")
    if kind == "arduino":
        each = ("library.properties", "keywords.txt")
        return templates | {file: f"arduino/{file}" for file in each}
    if board.proof:
        return templates | {"library.json": "platformio/library.json"}
    return templates | {
        "library.json": "platformio/library.json",
        "examples/BareSelfTest/platformio.ini": "platformio/platformio.ini",
        "examples/BareSelfTest/src/main.c": _BARE_SELF_TEST.removesuffix(".j2"),
    }


def _context(kind: Kind, library: Library, board: Board) -> dict[str, object]:
    """Return all that `templates/export` needs."""
    model, vectors = library.model, library.vectors
    window = _window(model)
    drawn = None if model.features is None else model.features.points.drawn_shape
    sent = safe_sendings(model)
    sram_bytes = library.plan.state_bytes + model.n_features + SKETCH_SRAM_BYTES
    fits = sram_bytes <= board.sram_bytes
    signal = signal_of(model.features)
    return {
        "tool_version": __version__,
        "library": library,
        "model": model,
        "model_id": model_id(model),
        "kind_title": kind_title(model.head.kind),
        "parts": library.parts,
        "kind": kind,
        "name": library.name,
        "source_folder": _source(kind, ""),
        "self_test_program": _self_test_program(kind),
        "sizes": ", ".join(f"{size.number} {size.name}" for size in model.sizes),
        "score_width": max(len(str(score)) for score in vectors.scores.ravel().tolist()),
        "name_size": name_size(model),
        "buffered": window is None and fits,
        "windows": signal is not None and not signal.triggered and fits,
        "inputs_are": "FEATURE" if window is None else "CHANNEL",
        "input_names": input_names(model),
        "jumps_short": library.plan.kernel == "unrolled" and not library.plan.core.call_cycles,
        "pins": model.n_features <= ANALOG_PINS,
        "pixels": window is None and drawn is not None,
        "window": window,
        "features": _features(model, library.feature_names),
        "sendings": sent,
        # what the sketch Windows begins with, and Live has from its options
        "hop": 1 if signal is None else max(1, signal.samples // 2),
        "votes": _VOTES,
        "refractory": 0,
        "marks": (),
        "limited": False,
        "period_us": 0 if window is None else window["period_us"],
        **_columns(model, library.preparation, library.feature_names),
        "send": _send(sent),
        "send_lines": _send_lines(sent, library.prefix),
        "vectors": vectors.encoded,
        "scores": tuple(tuple(row) for row in vectors.scores.tolist()),
        "classes": tuple(vectors.classes.tolist()),
        "class_lines": class_lines(model.classes),
        "other_answers": model.policy.other_answers,
        "answer_template": answer_template(model),
        "live": "" if library.windowing is None else library.windowing.words,
        "avr": isinstance(library.plan, Plan),
        "float_form": float_context(model, library.plan).get("float_form"),
        "bare": not board.proof,
    }


def answer_template(model: IntegerChain) -> str:
    """Return the template of what sketches do with an answer: a class, or a rule's number."""
    rule = model.policy.answering
    return "answer.j2" if rule is None else f"policy/{rule}.ino.j2"


def _features(model: IntegerChain, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the table of features: one line where all are alike, none if it would be long."""
    inputs = model.quantizer
    full = inputs.zero + inputs.step * inputs.maximum
    if np.ptp(inputs.zero) == 0 and np.ptp(inputs.step) == 0:
        return [{"name": "all", "zero": f"{inputs.zero[0]:.6g}", "full": f"{full[0]:.6g}"}]
    n_channels = channels_of(model)
    if n_channels is not None:
        channels = range(n_channels)
        called = [c_comment(name) for name in channel_names(names, len(channels))]
        shown = called or [""] * len(channels)
        labels = [f"channel {channel} {shown[channel]}".strip() for channel in channels]
    elif model.n_features > _LISTED_FEATURES:
        return []
    else:
        shown = [c_comment(name) for name in names] or [""] * model.n_features
        labels = [f"{i} {name}".strip() for i, name in enumerate(shown)]
    return [
        {"name": label, "zero": f"{zero:.6g}", "full": f"{end:.6g}"}
        for label, zero, end in zip(labels, inputs.zero, full, strict=False)
    ]


def _columns(
    model: IntegerChain, preparation: Preparation | None, names: tuple[str, ...]
) -> dict[str, object]:
    """Return the features of columns of text, and for gaps in each feature its value as passed."""
    made = preparation or Preparation()
    values = np.asarray(made.values, np.float64)
    passed = model.raw_inputs.integers(np.nan_to_num(values)[None])[0] if len(values) else values
    shown = names or [""] * len(values)
    filled = [
        (f"{index} {c_comment(name)}".strip(), f"{value:.7g}", int(integer))
        for index, (name, value, integer) in enumerate(zip(shown, values, passed, strict=False))
        if not math.isnan(value)
    ]
    place = {name: index for index, name in enumerate(names)}
    texts = [
        (c_comment(column), ", ".join(f"{place[name]} {c_comment(name)}" for name in of))
        for column in made.one_hot
        if place.keys() >= set(of := made.names_of(column))
    ]
    return {
        "filled": filled[:_LISTED_FEATURES],
        "unlisted": filled[_LISTED_FEATURES:],
        "texts": texts,
    }


def name_size(model: IntegerChain) -> int:
    """Return the bytes of a buffer for the name of any answer."""
    names = model.policy.labels(model.classes).values()
    return min(1 + max(len(name.encode()) for name in names), _LONGEST_NAME)


def class_lines(names: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the constant of each class, and its name in C and in Markdown."""
    return [
        {"constant": each.constant, "comment": each.comment, "name": _markdown(name)}
        for name, each in zip(names, class_names(names), strict=True)
    ]


def _markdown(text: str) -> str:
    """Return a name from data as it is read in a cell of a Markdown table."""
    return re.sub(r"(?!(?<!/)/(?!/))[^\w .,:;()%°+-]|_", lambda found: f"&#{ord(found[0])};", text)


def _send(sent: tuple[Sending, ...]) -> str:
    """Return the unit that a sketch sends, in a few words; "" for unchanged raw values."""
    if not sent:
        return ""
    if len({each.unit for each in sent}) > 1:
        return "a value in the unit of its feature"
    unit = sent[0].unit
    return unit if unit.startswith("the ") else f"{unit} of the training data's unit"


def _send_lines(sent: tuple[Sending, ...], prefix: str) -> tuple[str, ...]:
    """Return each feature's factor, for a sketch's comment, unless that is long."""
    limited = f"limited with {prefix.upper()}_LIMIT, and rounded"
    if len(sent) > _SKETCH_LINES:
        return (f"the units of all features are in {prefix}_model.h; {_STANDS_FOR}",)
    if len({each.unit for each in sent}) == 1:
        return (f"the value times {sent[0].factor}, {limited}; {_STANDS_FOR}",)
    factors = (
        f"{_which(each)}: {each.unit}, "
        f"{'' if each.factor == '1' else f'the value times {each.factor}, '}{limited}"
        for each in sent
    )
    return (*factors, _STANDS_FOR)


def _which(sent: Sending) -> str:
    what = f"{sent.features} {sent.name}".strip()
    return what if what.startswith("channel") else f"feature {what}"


def _window(model: IntegerChain) -> dict[str, object] | None:
    features, signal = model.features, signal_of(model.features)
    if features is None or signal is None:
        return None
    named = [each.constant.lower() for each in input_names(model)]
    period_us = round(1e6 / (signal.rate or _SAMPLE_RATE))
    return {
        "samples": signal.samples,
        "channels": signal.channels,
        "period_us": max(1, period_us),
        "period": f"{period_us / 1000:g} ms",
        "rate_known": signal.rate is not None,
        # of a function: no keyword, no macro, and none of the sketch's own names begins like this
        "parameters": [f"raw_{name}" for name in named or range(signal.channels)],
        "functions": [name for stage in features.stages for name in FUNCTIONS.get(stage.kind, ())],
    }
