"""The tour in docs/architecture.md: its picture has every room, and its walk leads through them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from avr_tools import needs_emulated_avr
from checkout import CHECKOUT
from command_line import succeed
from doc_blocks import skip_without_extensions
from sklearn.datasets import load_iris

PACKAGE = CHECKOUT / "protonn_edge"
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text("utf-8")
STEPS = re.findall(r"^\| \[`[^`]+`\]\(\.\./([^)]+)\) \| `(\w+)` \|", PAGE, re.MULTILINE)
PATH = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]*(?:\.[a-z0-9]+)*|[a-z_]+\.(?:py|j2|h|c))`")

PLACES = (
    "protonn_edge",
    "templates",
    "firmware",
    "docs",
    "tests",
    "hil_tests",
    "benchmarks",
    ".github",
)
MADE = {"docs/_build"}  # by a command that the page names


def folders(place: str) -> list[str]:
    """Return the names of the packages in a folder of the package."""
    return sorted(each.parent.name for each in (PACKAGE / place).glob("*/__init__.py"))


def test_the_picture_has_every_room_and_extension() -> None:
    skip_without_extensions()
    drawn = re.findall(r'class="name"[^>]*>(\w+)<', (CHECKOUT / "docs/house.svg").read_text())
    rooms = [name for name in folders("") if name != "extensions"]
    assert sorted(drawn) == sorted([*rooms, *folders("extensions")])


@contextmanager
def traced() -> Iterator[list[tuple[str, str]]]:
    """Record the file in the checkout, and the name in it, of each function that is called."""
    called = dict[tuple[str, str], None]()
    found: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:  # no module or class
            called[code.co_filename, code.co_qualname] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        found += called


@needs_emulated_avr
def test_the_walk_follows_a_row_from_the_table_to_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    iris = load_iris()
    rows = (
        f"{','.join(map(str, row))},{iris.target_names[y]}"
        for row, y in zip(iris.data, iris.target, strict=True)
    )
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,species", *rows]))
    with traced() as called:
        succeed("train", "iris.csv", "-o", "model.npz", "--classifier", "linear")
        succeed("build", "model.npz")
    first = {
        path: next(
            number
            for number, (file, qualified) in enumerate(called)
            if file == str(CHECKOUT / path) and name in qualified.split(".")
        )
        for path, name in STEPS
    }
    assert 10 < len(STEPS) <= 14
    assert list(first.values()) == sorted(first.values()), first


@pytest.mark.parametrize(
    "page", ["docs/architecture.md", "docs/contributing.md", "CONTRIBUTING.md"]
)
def test_paths_in_pages_for_contributors_exist(page: str) -> None:
    skip_without_extensions()
    places = [CHECKOUT / place for place in PLACES]
    found = [path for place in places for path in (place, *place.rglob("*"))]
    every = "\n".join(f"/{path.relative_to(CHECKOUT).as_posix()}\n" for path in found)
    named = {path.rstrip("/") for path in PATH.findall((CHECKOUT / page).read_text("utf-8"))}
    assert not {path for path in named - MADE if f"/{path}\n" not in every}
