"""The tools of the server: what an agent reads about each, and the command that it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import Formatter

from protonn_edge.chips.boards import firmware_board_names
from protonn_edge.extensions.agents import verdicts
from protonn_edge.model.registry import ESTIMATORS
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.wording import Interface

UPLOAD = "upload"
"""The tool that writes to a board."""


@dataclass(frozen=True)
class Tool:
    """A command with a few arguments, and the verdict of its JSON object."""

    text: str
    # a word of the command is left out if the argument in its braces is not given
    words: tuple[str, ...]
    schema: Mapping[str, JsonObject]  # the arguments, as JSON Schema
    required: tuple[str, ...]
    figures: Callable[[JsonObject], JsonObject]
    hint: str = ""  # of the protocol: what the tool does to its surroundings

    def command(self, values: Mapping[str, str]) -> list[str]:
        """Return the words of the command for these arguments."""
        return [
            word.format_map(values)
            for word in self.words
            if all(name is None or name in values for _, name, _, _ in Formatter().parse(word))
        ]

    @property
    def options(self) -> dict[str, str]:
        """Its arguments that are options of the command, by the names of these."""
        return dict(re.findall(r"--([a-z-]+)=\{(\w+)\}", " ".join(self.words)))

    def described(self, name: str) -> JsonObject:
        """Return the entry of the tool in the list of the protocol."""
        schema = {"type": "object", "properties": self.schema, "required": list(self.required)}
        hints = {"annotations": {self.hint: True}} if self.hint else {}
        return {
            "name": name,
            "description": self.text,
            "inputSchema": schema | {"additionalProperties": False},
            **hints,
        }


def interface_of(tool: Tool, tools: Mapping[str, Tool]) -> Interface:
    """Return the words for messages of a tool: its arguments, then those of others."""
    others = {option: each for one in tools.values() for option, each in one.options.items()}
    return Interface(
        {**others, **tool.options},
        lambda argument, text: f"{argument}={json.dumps(text, ensure_ascii=False)}",
        {each.words[0]: f"the tool {name}" for name, each in tools.items()},
    )


def _text(description: str = "", **more: object) -> JsonObject:
    return {"type": "string", **({"description": description} if description else {}), **more}


def _choice(*values: str, default: str) -> JsonObject:
    return {"type": "string", "enum": list(values), "default": default}


_BOARD = _choice(*firmware_board_names(), default="uno")
_READING = {"label": _text("The column of labels, if look finds another one.")}

TOOLS: Mapping[str, Tool] = {
    "look": Tool(
        "Examine a table before training: classes, columns, likely mistakes.",
        ("data", "{data}", "--label={label}"),
        {"data": _text("A file, such as train.csv."), **_READING},
        ("data",),
        verdicts.of_data,
        "readOnlyHint",
    ),
    "train": Tool(
        "Train a model file (.npz); a fifth of the points is held out for the accuracy. "
        "'forest' answers fastest, 'protonn' is small, 'best' compares kinds for minutes.",
        (
            *("train", "{data}", "--output={model}", "--classifier={classifier}"),
            *("--label={label}", "--groups={groups}", "--drop={drop}", "--budget={budget}"),
        ),
        {
            "data": _text(),
            "model": _text("The file to write, such as model.npz."),
            "classifier": _choice(*ESTIMATORS, "best", default=next(iter(ESTIMATORS))),
            **_READING,
            "groups": _text("A column of persons or days, to hold out whole groups."),
            "drop": _text("Columns to leave out, separated by commas."),
            "budget": _text("Bytes of the model, such as 4kB."),
        },
        ("data", "model"),
        verdicts.of_training,
    ),
    "build": Tool(
        "Build firmware: does it fit, how long does an answer take, does the emulated board "
        "equal NumPy?",
        ("build", "{model}", "--board={board}", "--output={folder}"),
        {"model": _text(), "board": _BOARD, "folder": _text(default="firmware")},
        ("model",),
        verdicts.of_build,
    ),
    "verify": Tool(
        "Compare the scores of NumPy, C and the emulated board on the test points.",
        ("verify", "{model}", "{data}", "--board={board}"),
        {"model": _text(), "data": _text(), "board": _BOARD},
        ("model", "data"),
        verdicts.of_comparison,
        "readOnlyHint",
    ),
    "measure": Tool(
        "Classify the test points with the built firmware: accuracy, time and energy.",
        ("hil", "{data}", "--project={folder}", "--output={results}", "--{device}"),
        {
            "data": _text(),
            "folder": _text(default="firmware"),
            "results": _text(default="results.csv"),
            "device": _choice("emulate", default="emulate"),
        },
        ("data",),
        verdicts.of_run,
    ),
    "report": Tool(
        "Write an HTML page about the results of measure, for people.",
        ("report", "{results}", "--project={folder}", "--data={data}", "--output={page}"),
        {
            "results": _text(default="results.csv"),
            "folder": _text(default="firmware"),
            "data": _text(),
            "page": _text(default="report.html"),
        },
        (),
        verdicts.of_report,
    ),
    "export": Tool(
        "Write the model as a library with a self-test; an earlier one is replaced.",
        ("export", "{model}", "--{kind}={folder}", "--board={board}"),
        {
            "model": _text(),
            "folder": _text("The library's folder, such as Gestures."),
            "kind": _choice("arduino", "platformio", "c", default="arduino"),
            "board": _BOARD,
        },
        ("model", "folder"),
        verdicts.of_export,
    ),
}
"""What an agent can do without a board."""


def tools_for(port: str | None, uploads: int) -> dict[str, Tool]:
    """Return the tools by their names; those that use a board only if that is allowed."""
    found = dict(TOOLS)
    if port:
        device = _choice("emulate", f"port={port}", default="emulate")
        schema = {**TOOLS["measure"].schema, "device": device}
        found["measure"] = replace(TOOLS["measure"], schema=schema)
    if uploads:
        found[UPLOAD] = Tool(
            "Write the built firmware to the user's board; how often is limited.",
            (UPLOAD, "{folder}", *[f"--port={port}"] * bool(port)),
            {"folder": _text(default="firmware")},
            (),
            verdicts.of_upload,
            "destructiveHint",
        )
    return found
