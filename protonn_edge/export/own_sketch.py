"""How a model gets into a user's own sketch, the next step after it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.boards import Board, board_names
from protonn_edge.chain.features import Features
from protonn_edge.codegen import template_environment
from protonn_edge.codegen.context import class_names, safe_sendings
from protonn_edge.export.rendering import ANALOG_PINS, answer_template
from protonn_edge.quantization import IntegerChain
from protonn_edge.system.shell import command_line

NAME = "my_model"
"""The library's name in the sketch."""

_CASES = 4  # that the sketch spells out


@dataclass(frozen=True)
class OwnSketch:
    """How a model gets into a sketch."""

    command: str  # the command that exports the library, in the project's folder
    code: str  # a whole sketch, which only lacks the sensor
    feature: str  # feature i, as a part of a sentence
    raw: str  # its raw value, as another part
    constants: tuple[tuple[str, str], ...]  # of each class, and the class; none for a number


def own_sketch(model: IntegerChain, board: Board) -> OwnSketch:
    """Return how a model gets into a sketch for a board."""
    options = ["protonn-edge", "export", "firmware/generated/model.npz", "--arduino", NAME]
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
    return OwnSketch(command_line(options), code, feature, raw, listed)


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
