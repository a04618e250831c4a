"""Board files: one is refused in one sentence, or says nothing to PlatformIO that it must not."""

from __future__ import annotations

import configparser
import functools
import json
import math
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from laws.fuzz.mutation import encoded, mutated_bytes, mutated_json, mutated_text, pick
from laws.fuzz.sentences import REFUSALS, check_command, check_refusal
from model_factory import tiny_integer_model

from protonn_edge.chips.boards import Board, board_names, load_board
from protonn_edge.chips.toolchain.platformio import description, environment_section
from protonn_edge.codegen.planner import Limits, make_plan

BRIEF_CASES = 20

_KEYS = {
    *("extends", "platform", "build_src_filter", "build_flags", "board"),
    *("board_build.mcu", "board_build.f_cpu"),
    *("upload_protocol", "upload_speed", "custom_usb_ids"),
}
_NAMES = ("mine", "mine", "mine", "UNO", "a b", "-x", "x" * 60, "uno")
_OF_A_SHELL = ";`!|&<>\"'\\"


def run_case(seed: int, folder: Path) -> None:
    """Read a changed board file; write what PlatformIO would be given, and plan for the board."""
    rng = np.random.default_rng(seed)
    path = folder / f"{pick(rng, _NAMES)}.toml"
    path.write_bytes(changed_file(rng, pick(rng, _files()), "=\"'#[]{}.\n"))
    try:
        board = load_board(str(path))
    except REFUSALS as error:
        check_refusal(error)
    else:
        _check_board(board)
    if rng.random() < 0.05:
        check_command("inspect", path, "--json")


def changed_file(rng: np.random.Generator, text: str, marks: str) -> bytes:
    """Return TOML with other values, with other characters, some of these marks, or other bytes."""
    chance = rng.random()
    if chance < 0.6:
        facts = tomllib.loads(text)
        for _ in range(int(rng.integers(1, 4))):
            facts = mutated_json(rng, facts)
        return encoded(rng, toml(facts))
    if chance < 0.9:
        return encoded(rng, mutated_text(rng, text, marks))
    return mutated_bytes(rng, text.encode())


@functools.cache
def _files() -> tuple[str, ...]:
    folder = resources.files("protonn_edge.chips.boards")
    return tuple(folder.joinpath(f"{name}.toml").read_text("utf-8") for name in board_names())


def toml(value: Any) -> str:
    """Return a table as TOML, so far as it can hold it."""
    if not isinstance(value, dict):
        return f"title = {_value(value)}\n"
    return "".join(f"{json.dumps(key)} = {_value(part)}\n" for key, part in value.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {_value(part)}" for key, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _check_board(board: Board) -> None:
    sections = configparser.ConfigParser(interpolation=None)
    sections.read_string(environment_section(board))
    assert sections.sections() == [f"env:{board.name}"], "a board's file makes other sections"
    section = sections[f"env:{board.name}"]
    assert set(section) <= _KEYS, f"a board's file sets {sorted(set(section) - _KEYS)}"
    for key in section:
        value = section[key]
        assert not set(value) & set(_OF_A_SHELL), f"a board's file sets {key} = {value!r}"
    json.dumps(description(board), allow_nan=False)
    assert 0 < board.milliseconds(1) < 1, f"a cycle takes {board.milliseconds(1)} ms"
    assert board.millijoules(1) > 0, f"a cycle takes {board.millijoules(1)} mJ"
    _check_plan(board)


def _check_plan(board: Board) -> None:
    try:
        plan = make_plan(tiny_integer_model(), Limits.of(board))
    except REFUSALS as error:
        check_refusal(error)
        return
    assert plan.order > 0, "a plan takes no time"
