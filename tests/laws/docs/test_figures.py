"""A measured figure on a page has a source: a block that prints it, or a benchmark that is named.

The name, or a comment ``<!-- figures: where they are from -->``, is in the same section or in one
above it. The page of results counts as a source, because it names benchmarks itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import PAGES

MEASURED = re.compile(
    r"(?<![\w.,])(?:\d+\.\d+(?= %)|\d[\d,]*(?:\.\d+)?(?= (?:ms|mJ|cycles)\b)|\d[\d,]*\d\d(?= B\b))"
)
SOURCE = re.compile(r"benchmarks/\w+\.py|\bresults\.md|<!-- figures: ")
FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)


def sections_of(page: str) -> Iterator[tuple[str, str, bool]]:
    """Yield title and text of each section, and whether it or one above it names a source."""
    text = FENCE.sub(lambda fence: " ".join(SOURCE.findall(fence[0])), page)
    sourced: list[bool] = []
    for part in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        title, _, own = part.partition("\n")
        depth = max(1, len(title) - len(title.lstrip("#")))
        sourced[depth - 1 :] = [False] * (depth - 1 - len(sourced)) + [bool(SOURCE.search(own))]
        yield title, own, any(sourced)


def unsourced_figures(page: str) -> list[str]:
    """Return the sections of a page with figures that have no source."""
    printed = " ".join(fence[0] for fence in FENCE.finditer(page))
    return [
        f"{title}: {', '.join(figures)}"
        for title, own, sourced in sections_of(page)
        if not sourced and (figures := [f for f in MEASURED.findall(own) if f not in printed])
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_measured_figures_have_a_source(page: Path):
    assert not unsourced_figures(page.read_text("utf-8"))


def test_a_figure_without_a_source_is_found():
    page = (
        "# A\n\nIt takes 7 ms.\n\n## B\n\n`benchmarks/linear.py`: 9 ms\n\n### C\n\n8.5 % of 90 B\n"
    )
    assert unsourced_figures(page) == ["# A: 7"]
    assert not unsourced_figures(page + "\n```console\n$ build\n7 ms\n```\n")


def test_results_in_the_readme_are_on_other_pages():
    table = re.search(
        r"^## Results$.*?^\| best", PAGES[0].read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert table is not None
    figures = re.findall(r"(?<=\| )[\d.,]+(?= \|)", table[0])
    pages = " ".join(page.read_text("utf-8") for page in PAGES[1:]).replace(",", "")
    sums = {str(int(a) + int(b)) for a, b in re.findall(r"\b(\d+) \+ (\d+)\b", pages)}
    known = sums | set(re.findall(r"[\d.]*\d", pages))
    assert len(figures) > 10
    assert not [figure for figure in figures if figure.replace(",", "") not in known]
