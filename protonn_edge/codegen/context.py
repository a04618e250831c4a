"""The templates' variables, with numbers computed and names escaped, which leaves only layout.

`sendings` describe the raw values that a sketch sends, for headers, READMEs, and `inspect`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from protonn_edge import __version__
from protonn_edge.codegen.float_filters import filter_of
from protonn_edge.codegen.kernels.in_templates import StageInTemplate
from protonn_edge.codegen.plan import Plan
from protonn_edge.data.naming import channel_names
from protonn_edge.model.head import channels_of
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES, IntegerChain
from protonn_edge.model.raw_inputs import (
    RAW_SHIFT,
    FloatQuantizer,
    RawQuantizer,
    float_quantizer,
    unit_words,
)
from protonn_edge.model.registry import module_of_stage
from protonn_edge.system.extensions import parts_of

API_VERSION = 1

_LISTED_FEATURES = 64
_SENSORS_COUNTS = "the sensor's counts"
_CONSTANT_LETTERS = 40  # C99 compares 63 characters of a macro's name


@dataclass(frozen=True)
class ClassName:
    """A class name as a C string literal's inside, for a comment, and as a constant's end."""

    literal: str
    comment: str
    constant: str


@dataclass(frozen=True, eq=False)
class StageContext(StageInTemplate):
    """A stage and its neighbours.

    The first one knows whether its inputs are streamed, and the classifier's first one which of
    its inputs are watched.
    """

    streamed: bool = False  # or an array of the caller or of the library holds all
    watched: range = range(0)  # inputs; see `model.watch`
    watching: str = ""  # the template of what watches them
    previous: StageContext | None = None
    next: StageContext | None = None


def program_context(model: IntegerChain, plan: Any) -> dict[str, object]:
    """Return the variables of the templates of every program."""
    rule = model.policy.answering
    return {
        "tool_version": __version__,
        "api_version": API_VERSION,
        "model": model,
        "plan": plan,
        "hash_bytes": hash_bytes(model.model_sha256),
        "model_id": model_id(model),
        "class_names": class_names(model.classes),
        "input_names": input_names(model),
        "inputs_are": "FEATURE" if channels_of(model) is None else "CHANNEL",
        "answer_template": "answer.j2" if rule is None else f"policy/{rule}.j2",
        "raw": raw_context(model),
        "float_form": None,
        "float_inputs": [],
    }


def render_context(model: IntegerChain, plan: Plan) -> dict[str, object]:
    """Return the variables of `templates/c`."""
    return {
        **program_context(model, plan),
        "stages": _stage_contexts(plan, len(model.feature_stages)),
        "parts": parts_of(model),
        "float_filters": [*map(filter_of, float_quantizer(model.quantizer).scales)],
        **float_context(model, plan),
    }


def float_context(model: IntegerChain, plan: Any) -> dict[str, object]:
    """Return how a classifier of a chip tests raw floats as they are, or which become bytes.

    It tests them if its plan `unfolds`, and the tests fit the flash that the plan has.
    """
    form = _float_form(model)
    if form is None:
        return {}
    tests = plan.unfolds and form.fits(plan.core, plan.limit_bytes)
    some = len(form.tested) < model.n_features
    return {"float_form": form if tests else None, "float_inputs": form.tested if some else []}


def _float_form(model: IntegerChain) -> Any:
    """Return how a classifier can test raw floats; None if it takes bytes only.

    The class `FloatTrees` in the module `floats` of a stage's folder has it. What is watched,
    or reads features besides, needs bytes.
    """
    first, *others = model.stages
    module = module_of_stage(first.kind, "floats")
    watched = getattr(model.stages[-1], "expected", None) is not None
    if module is None or len(others) > 1 or watched or parts_of(model):
        return None
    return module.FloatTrees(first, float_quantizer(model.quantizer))


def _stage_contexts(plan: Plan, n_feature_stages: int) -> tuple[StageContext, ...]:
    """Return the stages in their order."""
    expected = getattr(plan.kernels[-1].stage, "expected", None)
    contexts: list[StageContext] = []
    for name, kernel in plan.named.items():
        streamed = not contexts and not plan.feed.held
        watched, watching = range(0), ""
        if expected is not None and len(contexts) == n_feature_stages:
            watched, watching = expected.watched, expected.template
        contexts.append(StageContext(name, kernel, streamed, watched, watching))
    for one, other in pairwise(contexts):
        object.__setattr__(one, "next", other)
        object.__setattr__(other, "previous", one)
    return tuple(contexts)


def raw_context(model: IntegerChain) -> dict[str, object]:
    """Return the variables of `raw_inputs.j2`; for windows, per channel of a sample.

    `each` features have their own scales, which `repeats` if there are more features. `sendings`
    gives the units of raw integers; it is empty if these are the data's units.
    """
    raw = model.raw_inputs
    floats, chosen = float_quantizer(model.quantizer), channels_of(model) or model.n_features
    repeats = chosen < model.n_features
    return {
        "integers": _scales(raw, chosen),
        "floats": _scales(floats, chosen),
        "each": chosen,
        "repeats": repeats,
        "what": "channel" if repeats else "feature",
        "maximum": model.quantizer.maximum,
        "shift": RAW_SHIFT,
        "fine": raw.fine,
        "sendings": safe_sendings(model),
    }


def _scales(of: RawQuantizer | FloatQuantizer, chosen: int) -> dict[str, object]:
    """Return scales, the index of each feature's scale, and its bits.

    There are no indices if all features have the same scale, or scales have the features' order.
    """
    choice = of.choice[:chosen].tolist()
    if len(of.scales) == 1 or choice == list(range(chosen)):
        choice = []
    return {"scales": of.scales, "choice": choice, "bits": 8 if len(of.scales) <= 256 else 16}


def c_float(number: float | np.float32) -> str:
    """Return a float of 32 bits as a C literal, the shortest that reads back as the same float."""
    return f"{np.format_float_scientific(np.float32(number), unique=True, trim='0')}f"


def hash_bytes(sha256: str) -> tuple[str, ...]:
    """Return the part of a model's hash that its firmware has, as C literals."""
    return tuple(f"0x{byte:02x}" for byte in bytes.fromhex(sha256)[:MODEL_HASH_BYTES])


def model_id(model: IntegerChain) -> str:
    """Return a number that distinguishes a model's C from another model's, as a C literal."""
    return f"0x{model.model_sha256[:8]}UL"


def class_names(names: tuple[str, ...]) -> tuple[ClassName, ...]:
    """Return names that come from data, made safe for C."""
    return tuple(
        ClassName(c_string(name), c_comment(name), constant)
        for name, constant in zip(names, class_constants(names), strict=True)
    )


def input_names(model: IntegerChain) -> tuple[ClassName, ...]:
    """Return the names of a table's columns, or of a sample's channels, made safe for C.

    There are none for the pixels of images, nor where the names only count.
    """
    channels, names = channels_of(model), model.feature_names
    if channels is not None:
        names = channel_names(names, channels)
    elif model.features is not None:
        names = ()
    made = class_names(names)
    return () if all(each.constant.isdecimal() for each in made) else made


def class_constants(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the end of each name's constant, as after ``PNN_CLASS_``: all different.

    Accents are removed, and characters other than letters and digits become ``_``. If the result is
    empty or not unique, the number of the name is added.
    """
    plain = [unicodedata.normalize("NFKD", name).encode("ascii", "ignore") for name in names]
    words = [re.sub(r"[^A-Z0-9]+", "_", each.decode().upper()).strip("_") for each in plain]
    short = [word[:_CONSTANT_LETTERS].strip("_") for word in words]
    taken = {f"{short[i]}_{i}".strip("_") for i in range(len(short))}
    return tuple(
        word if word and short.count(word) == 1 and word not in taken else f"{word}_{i}".strip("_")
        for i, word in enumerate(short)
    )


def c_string(text: str) -> str:
    """Return the inside of a C string literal for any text, in UTF-8.

    Everything but plain characters becomes a three-digit octal escape, which, unlike a hexadecimal
    one, cannot swallow the character that follows; so no quote, backslash, trigraph or line end
    that comes from data reaches the compiler.
    """
    return "".join(
        chr(byte) if re.match(rb"[A-Za-z0-9 _.,:;+*/=()<>#&-]", bytes([byte])) else f"\\{byte:03o}"
        for byte in text.encode()
    )


def c_comment(text: str) -> str:
    """Return text for a C comment or a README; letters of any script, digits and units stay.

    All else becomes ``_``, so that nothing can end a comment or a cell, or become a link.
    """
    return re.sub(r"[^\w°.()\[\]%=/+ -]|(?<=\])\(|/(?!\w)|(?<!\w)/", "_", text)


@dataclass(frozen=True)
class Sending:
    """The raw values that a sketch sends for some neighbouring features."""

    features: str  # "3", "0..63", "all", or, for windows, "channel 2"
    name: str  # the name of the one feature, or channel, as the training data has it, or ""
    # "hundredths"; "the sensor's counts"; "the training data's unit" if raw values are sent
    # unchanged
    unit: str
    factor: str  # factor on values in the training data's unit: "100", "0.001"
    # the range of raw integers in which inputs are distinguished
    low: int
    high: int


def sendings(model: IntegerChain) -> tuple[Sending, ...]:
    """Return the lines: one per feature, or one for similar neighbours if there are many."""
    raw, inputs, channels = model.raw_inputs, model.quantizer, channels_of(model)
    counts, exponents = raw.counts, raw.exponents
    ends = np.stack([inputs.zero, inputs.end])
    integers = raw.integers(ends).astype(np.int64)
    factors = exponents if counts is None else counts
    alike = all(np.ptp(each) == 0 for each in (factors, *ends))
    n = 1 if alike else channels or len(factors)
    names = (
        model.feature_names if channels is None else channel_names(model.feature_names, channels)
    )
    starts = np.arange(n)
    if n > _LISTED_FEATURES:
        starts = np.flatnonzero(np.diff(factors[:n], prepend=factors[0] + 1))

    def sending(start: int, stop: int) -> Sending:
        one, exponent = stop - start == 1, int(exponents[start])
        which = f"{'channel ' if channels else ''}{start}" if one else f"{start}..{stop - 1}"
        unit, factor = unit_words(exponent) or "the training data's unit", factor_text(exponent)
        if counts is not None:
            unit, factor = _SENSORS_COUNTS, f"{counts[start]:.10g}"
        return Sending(
            features="all" if alike else which,
            name=names[start] if one and names and not alike else "",
            unit=unit,
            factor=factor,
            low=int(integers[:, start:stop].min()),
            high=int(integers[:, start:stop].max()),
        )

    return tuple(map(sending, starts.tolist(), [*starts[1:].tolist(), n]))


def safe_sendings(model: IntegerChain) -> tuple[Sending, ...]:
    """Return the lines with names for C comments; none if all is sent in the data's unit."""
    sent = () if as_it_is(model) else sendings(model)
    return tuple(replace(each, name=c_comment(each.name)) for each in sent)


def with_names(text: str, context: Mapping[str, Any]) -> str:
    """Return C in whose comments the names replace numbers such as ``@feature 3``.

    Numbers of what has no name but its number stay in assembly, whose operands differ from them.
    """
    features = context["input_names"] if context["inputs_are"] == "FEATURE" else ()
    names = {"feature": features, "class": context["class_names"]}

    def named(found: re.Match[str]) -> str:
        what, number = found[2], found[3]
        if names[what] and (name := names[what][int(number)].comment) != number:
            return f"{found[1]} /* {name} */"
        return found[1] + f" /* {what} {number} */" * (found[1] == '"')

    return re.sub(r"(.) /\* @(feature|class) (\d+) \*/", named, text)


def factor_text(exponent: int) -> str:
    """Return 10**exponent as text: "100", "0.001", "1e-07" where that is long."""
    return f"{float(f'1e{exponent}'):.10g}"


def as_it_is(model: IntegerChain) -> bool:
    """Return whether all raw values are sent in the training data's unit."""
    raw = model.raw_inputs
    return raw.counts is None and not raw.exponents.any()
