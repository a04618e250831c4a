"""The tools of the server: what an agent reads about each, and the command that it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from string import Formatter

from protonn_edge.chips.boards import export_board_names, firmware_board_names
from protonn_edge.cli.tables import READ_HELP
from protonn_edge.cli.train_options import flags_of, parameters_of
from protonn_edge.extensions.agents import verdicts
from protonn_edge.extensions.agents.confinement import ALLOWED, OPTIONS, Values
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

    def command(self, values: Values) -> list[str]:
        """Return the words of the command for these arguments."""
        options = values.get(OPTIONS, {})
        assert isinstance(options, Mapping)
        return [
            *(
                word.format_map(values)
                for word in self.words
                if all(name is None or name in values for _, name, _, _ in Formatter().parse(word))
            ),
            *(f"--{name}={value}" if value else f"--{name}" for name, value in options.items()),
        ]

    @property
    def options(self) -> dict[str, str]:
        """Its arguments that are options of the command, by the names of these."""
        return dict(re.findall(r"--([a-z-]+)=\{(\w+)\}", " ".join(self.words)))

    def described(self, name: str) -> JsonObject:
        """Return the entry of the tool in the list of the protocol."""
        own = {
            argument: {key: value for key, value in each.items() if key != ALLOWED}
            for argument, each in self.schema.items()
        }
        schema = {"type": "object", "properties": own, "required": list(self.required)}
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
    allowed = tool.schema.get(OPTIONS, {}).get(ALLOWED, ())
    further = {name: f"{OPTIONS}.{name}" for name in READ_HELP if name in allowed}

    def form(argument: str, text: str) -> str:
        _, is_option, name = argument.partition(".")
        value = json.dumps({name: text} if is_option else text, ensure_ascii=False)
        return f"{OPTIONS if is_option else argument}={value}"

    commands = {each.words[0]: f"the tool {name}" for name, each in tools.items()}
    return Interface({**others, **further, **tool.options}, form, commands)


def _text(description: str = "", **more: object) -> JsonObject:
    return {"type": "string", **({"description": description} if description else {}), **more}


def _choice(*values: str, **more: object) -> JsonObject:
    return {"type": "string", "enum": list(values), **more}


def _options(*names: str) -> JsonObject:
    """Return the schema of further options of a command, which none but these may be.

    None of them writes a file.
    """
    return {"type": "object", ALLOWED: names}  # the instructions describe it once, for all tools


def _of_kinds() -> Iterator[str]:
    """Yield the options of all kinds of classifiers, and those that refuse a flag."""
    for kind in ESTIMATORS:
        for name, declared in parameters_of(kind).items():
            for flag in flags_of(name, declared):
                yield from (each.removeprefix("--") for each in flag.split("/"))


_BOARD = _choice(*firmware_board_names(), default="uno")
_READING = tuple(READ_HELP)
_LABEL = {"label": _text("The column of labels, if look finds another one.")}
_SAMPLED = ("sensor", "rate", "unit", "hop", "votes", "mark", "observe", "max-flash", "max-sram")
_WINDOW = {"type": "integer", "minimum": 2}

TOOLS: Mapping[str, Tool] = {
    "look": Tool(
        "Examine a table before training: classes, columns, likely mistakes.",
        ("data", "{data}", "--label={label}"),
        {"data": _text("A file, such as train.csv."), **_LABEL, OPTIONS: _options(*_READING)},
        ("data",),
        verdicts.of_data,
        "readOnlyHint",
    ),
    "windows": Tool(
        "Cut a recording, with a sample per row, into windows for train. Then train with the "
        "argument groups='groups' if the answer has groups.",
        (
            *("windows", "{recording}", "--output={windows}", "--window={window}"),
            *("--stride={stride}", "--test={test}", "--label={label}"),
        ),
        {
            "recording": _text("A table of samples, a WAV file, or a folder of these."),
            "windows": _text("The file to write, such as windows.npz."),
            "window": _WINDOW | {"description": "Samples of a window."},
            "stride": _WINDOW | {"minimum": 1, "description": "Samples from start to start."},
            "test": {"type": "number", "description": "Share for testing, such as 0.3."},
            **_LABEL,
            OPTIONS: _options(
                *_READING, "rate", "trigger", "onset", "background", "noise", "target"
            ),
        },
        ("recording", "windows", "window"),
        verdicts.of_windows,
    ),
    "train": Tool(
        "Train a model file (.npz); a fifth of the points is held out for the accuracy. Without "
        "classifier, 'protonn', or a kind that is clearly better; 'forest' answers fastest, "
        "'protonn' is small, 'best' compares kinds for minutes.",
        (
            *("train", "{data}", "--output={model}", "--classifier={classifier}"),
            *("--label={label}", "--groups={groups}", "--drop={drop}"),
        ),
        {
            "data": _text(),
            "model": _text("The file to write, such as model.npz."),
            "classifier": _choice(*ESTIMATORS, "best"),
            **_LABEL,
            "groups": _text("A column of persons or days, to hold out whole groups."),
            "drop": _text("Columns to leave out, separated by commas."),
            OPTIONS: _options(
                *_READING,
                *_of_kinds(),
                *("holdout", "holdout-rows", "seed", "target", "normal", "within"),
                *("rejection", "rejection-by"),
                *("metric", "minutes", "board", "start-from"),
            ),
        },
        ("data", "model"),
        verdicts.of_training,
    ),
    "build": Tool(
        "Build firmware: does it fit, how long does an answer take, does the emulated board "
        "equal NumPy?",
        ("build", "{model}", "--board={board}", "--output={folder}"),
        {
            "model": _text(),
            "board": _BOARD,
            "folder": _text(default="firmware"),
            OPTIONS: _options(*_SAMPLED),
        },
        ("model",),
        verdicts.of_build,
    ),
    "verify": Tool(
        "Compare the scores of NumPy, C and the emulated board on the test points.",
        ("verify", "{model}", "{data}", "--board={board}"),
        {"model": _text(), "data": _text(), "board": _BOARD, OPTIONS: _options(*_READING)},
        ("model", "data"),
        verdicts.of_comparison,
        "readOnlyHint",
    ),
    "predict": Tool(
        "Classify points with the integers of the device, also points without labels.",
        ("predict", "{model}", "{data}", "--output={predictions}"),
        {
            "model": _text(),
            "data": _text(),
            "predictions": _text("A table to write, such as predicted.csv, with a class per row."),
            OPTIONS: _options(*_READING, "unit", "hop", "votes", "mark"),
        },
        ("model", "data"),
        verdicts.of_predictions,
    ),
    "measure": Tool(
        "Classify the test points with the built firmware: accuracy, time and energy.",
        ("hil", "{data}", "--project={folder}", "--output={results}", "--{device}"),
        {
            "data": _text(),
            "folder": _text(default="firmware"),
            "results": _text(default="results.csv"),
            "device": _choice("emulate", default="emulate"),
            OPTIONS: _options(*_READING, "repeat", "watts"),
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
        "Write the model as a library, or as a module of MicroPython, with a self-test; an "
        "earlier one is replaced.",
        ("export", "{model}", "--{kind}={folder}", "--board={board}"),
        {
            "model": _text(),
            "folder": _text("The library's folder, or the module's name, such as Gestures."),
            "kind": _choice("arduino", "platformio", "c", "micropython", default="arduino"),
            "board": _choice(*export_board_names(), description="uno, if it is not given."),
            OPTIONS: _options(*_SAMPLED, "library"),
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
