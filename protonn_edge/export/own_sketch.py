"""The next step after a model is measured: its library, and a sketch of one's own around it."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.boards import Board, board_names
from protonn_edge.codegen import template_environment
from protonn_edge.codegen.context import class_names
from protonn_edge.codegen.sending import as_it_is, sendings
from protonn_edge.quantization import IntegerChain
from protonn_edge.system.shell import command_line

NAME = "my_model"
"""What the library is called."""

_CASES = 4  # that the sketch spells out


@dataclass(frozen=True)
class OwnSketch:
    """How a model gets into a sketch.

    Attributes
    ----------
    command : str
        What exports the library, in the project's folder.
    code : str
        A whole sketch, which only lacks the sensor.
    feature : str
        What feature i is, as a part of a sentence.
    raw : str
        What its raw value is, as the end of one.
    constants : tuple of (str, str)
        The constant of each class, and the class.
    """

    command: str
    code: str
    feature: str
    raw: str
    constants: tuple[tuple[str, str], ...]


def own_sketch(model: IntegerChain, board: Board) -> OwnSketch:
    """Return how a model gets into a sketch for a board."""
    words = ["protonn-edge", "export", "firmware/generated/model.npz", "--arduino", NAME]
    if board.name != "uno" and board.name in board_names():
        words += ["--board", board.name]
    names = class_names(model.classes)
    cases = [(f"PNN_CLASS_{each.constant}", each.comment) for each in names]
    constants = [(case[0], name) for case, name in zip(cases, model.classes, strict=True)]
    if model.rejection is not None:
        cases.insert(0, ("PNN_UNKNOWN", "unlike all classes"))
        constants.append(("PNN_UNKNOWN", "unlike all classes"))
    shown = cases[: _CASES + 1] if len(cases) == _CASES + 1 else cases[:_CASES]
    template = template_environment("export").get_template("sketch.ino.j2")
    code = template.render(
        name=NAME,
        cases=[{"constant": constant, "comment": comment} for constant, comment in shown],
        more=len(cases) - len(shown),
    )
    feature = "column i of the training data"
    if model.n_channels is not None:
        feature = f"channel i % {model.n_channels} of sample i / {model.n_channels} of a window"
    return OwnSketch(command_line(words), code, feature, _raw(model), tuple(constants))


def _raw(model: IntegerChain) -> str:
    if as_it_is(model):
        return "in the unit of the training data"
    sent = sendings(model)
    if len({each.factor for each in sent}) == 1:
        return f"its value in the training data times {sent[0].factor}, rounded"
    return "in the unit that the library's README lists for each feature"
