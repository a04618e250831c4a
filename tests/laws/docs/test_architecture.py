"""The tour in docs/architecture.md: its picture has every room, and its walk leads through them."""

from __future__ import annotations

import re

import pytest
from checkout import CHECKOUT
from doc_blocks import skip_without_extensions

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


def test_the_walk_has_at_most_sixteen_files() -> None:
    assert 10 < len(STEPS) <= 16


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_a_step_of_the_walk_is_where_the_page_says(path: str, name: str) -> None:
    text = (CHECKOUT / path).read_text("utf-8")
    assert re.search(rf"(?:def|class|macro) {name}\b", text)


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
