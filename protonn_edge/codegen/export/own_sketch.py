"""How a model gets into a user's own sketch, the next step after it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.chips.boards import Board, board_names
from protonn_edge.codegen.context import class_names, safe_sendings
from protonn_edge.codegen.export.rendering import (
    ANALOG_PINS,
    answer_template,
    class_lines,
    name_size,
)
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.model.features import Features, signal_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.extensions import extensions
from protonn_edge.system.shell import command_line

NAME = "my_model"
"""The library's name in the sketch."""

_CASES = 4  # that the sketch spells out
_ANY_SENSOR, _ANY_RATE = "SENSOR", "HZ"  # to be replaced


@dataclass(frozen=True)
class OwnSketch:
    """How a model gets into a sketch."""

    command: str  # the command that exports the library, in the project's folder
    code: str  # a whole sketch, which only lacks the sensor; or the user's part of the sketch Live
    feature: str  # feature i, as a part of a sentence
    raw: str  # its raw value, as another part
    constants: tuple[tuple[str, str], ...]  # of each class, and the class; none for a number
    live: str = ""  # how the sketch Live reads its sensor, as sentences; empty for another sketch


def own_sketch(model: IntegerChain, board: Board, sensors: str = "") -> OwnSketch:
    """Return how a model gets into a sketch for a board.

    For a model of windows, it is the user's part of the sketch *Live*, which reads the `sensors` of
    the training data, names with commas, at their rate.
    """
    live = signal_of(model.features) is not None and any(each.has_sensors for each in extensions())
    options = ["protonn-edge", "export", "firmware/generated/model.npz"]
    options += ["--arduino", f"{NAME}.zip" if live else NAME]
    if board.name != "uno" and board.name in board_names():
        options += ["--board", board.name]
    cases = [(f"PNN_CLASS_{each.constant}", each.comment) for each in class_names(model.classes)]
    constants = [(case[0], name) for case, name in zip(cases, model.classes, strict=True)]
    others = [(f"PNN_{each.constant}", each.meaning) for each in model.policy.other_answers]
    cases, constants = [*others, *cases], [*constants, *others]
    shown = cases[: _CASES + 1] if len(cases) == _CASES + 1 else cases[:_CASES]
    template = template_environment("export").get_template("sketch.ino.j2")
    code = template.render(
        name=NAME,
        model=model,
        pins=model.n_features <= ANALOG_PINS,
        answer_template=answer_template(model),
        cases=[{"constant": constant, "comment": comment} for constant, comment in shown],
        more=len(cases) - len(shown),
    )
    feature, raw = _feature(model.features), _raw(model)
    listed = tuple(constants) if model.policy.predicts == "class" else ()
    if live:
        added, reading = _sensor_options(model, sensors)
        command = command_line([*options, *added])
        return OwnSketch(command, _live_functions(model), feature, raw, listed, reading)
    return OwnSketch(command_line(options), code, feature, raw, listed)


def _sensor_options(model: IntegerChain, sensors: str) -> tuple[list[str], str]:
    """Return the options of the sketch Live, and sentences about what it reads."""
    signal, options = signal_of(model.features), list[str]()
    assert signal is not None
    for sensor in sensors.split(", ") if sensors else [_ANY_SENSOR]:
        options += ["--sensor", sensor]
    at = "the rate of the training data" if signal.rate is None else f"{signal.rate:.6g} Hz"
    words = f"The sketch Live reads the sensor at {at}. Change these functions, which it calls."
    if not sensors:
        words += (
            f" In place of {_ANY_SENSOR}, name your sensor, such as mpu6050, or a0 for a pin. If "
            "the training data are in a physical unit, add it, such as --unit g."
        )
    if signal.rate is None:
        options += ["--rate", _ANY_RATE]
        words += f" In place of {_ANY_RATE}, give the sampling rate."
    return options, words


def _live_functions(model: IntegerChain) -> str:
    """Return the functions of the sketch Live that a user changes."""
    signal, rule = signal_of(model.features), model.policy.answering
    assert signal is not None
    template = template_environment("export").get_template("live.ino.j2")
    return template.render(
        name=NAME,
        model=model,
        other_answers=model.policy.other_answers,
        class_lines=class_lines(model.classes),
        name_size=name_size(model),
        marks=(),
        windowing={"votes": 1, "triggered": signal.triggered, "model": model},
        live_answer="sensors/answer.j2" if rule is None else f"sensors/policy/{rule}.j2",
    )


def _feature(features: Features | None) -> str:
    points = None if features is None else features.points
    # a converted network may have no image
    if points is None or (not points.is_signal and points.shape[:2] == (1, 1)):
        return "listed under this number in the library's README"
    channels = len(points.scale.zero) if points.is_signal else (*points.shape, 1)[2]
    place = "sample" if points.is_signal else "pixel"
    whole = "a window" if points.is_signal else "an image, row by row"
    if channels == 1:
        return f"{place} i of {whole}"
    return f"channel i % {channels} of {place} i / {channels} of {whole}"


def _raw(model: IntegerChain) -> str:
    sent = safe_sendings(model)
    if not sent:
        return "its value in the unit of the training data, as a whole number"
    if len({each.factor for each in sent}) == 1:
        times = f"times {sent[0].factor}, limited with PNN_LIMIT, and rounded"
        return f"its value in the unit of the training data, {times}"
    return "its value in the unit that the library's README lists, as a whole number"
