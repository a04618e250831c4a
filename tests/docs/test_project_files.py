"""What the README promises in numbers, and what the files of the project say of each other."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from checkout import CHECKOUT, skip_unless_checked_out
from doc_blocks import PAGES
from markdown_it import MarkdownIt

import protonn_edge

GITHUB = CHECKOUT / ".github"
SOURCES = ("results", "gradients", "sensors", "audio")


@pytest.fixture(autouse=True)
def _checkout() -> None:
    skip_unless_checked_out("pyproject.toml")


def project() -> dict[str, object]:
    settings: dict[str, object] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    return settings["project"]  # type: ignore[return-value]


def test_the_readme_is_a_page() -> None:
    text = (CHECKOUT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.split()) <= 850


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_of_a_page_cuts_code_in_two(page: Path) -> None:
    """A line that begins with ``-`` begins an item of a list, even within code."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    texts = [child for token in tokens for child in token.children or () if child.type == "text"]
    assert not [text.content for text in texts if "`" in text.content]


def test_figures_of_the_readme_are_those_of_the_results() -> None:
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    table = re.search(r"\| accuracy on the Uno.*?\n\n", readme, re.DOTALL)
    assert table is not None
    pages = [(CHECKOUT / "docs" / f"{name}.md").read_text("utf-8") for name in SOURCES]
    rows = [line for page in pages for line in page.splitlines() if line.startswith("|")]
    accuracy, ms, flash, sram, _ = (
        [cell.strip() for cell in line.strip("| ").split("|")][1:]
        for line in table[0].strip().splitlines()
    )
    for column in zip(accuracy, ms, flash, strict=True):
        assert any(set(column) <= set(re.split(r"[| ]+", row)) for row in rows), column
    for total in sram:
        sums = (sum(map(int, each)) for row in rows for each in re.findall(r"(\d+) \+ (\d+)", row))
        assert int(total.replace(",", "")) in sums, total


def test_every_python_that_is_promised_is_tested() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text("utf-8"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert [f"Programming Language :: Python :: {each}" for each in tested] == [
        each for each in project()["classifiers"] if re.search(r":: 3\.", each)
    ]
    named = {word for job in workflow["jobs"].values() for step in job["steps"]
             for word in step.get("run", "").split() if word.startswith("tests/")}  # fmt: skip
    if not (CHECKOUT / "tests" / "extensions").is_dir():
        named = {name for name in named if not name.startswith("tests/extensions/")}
    assert all((CHECKOUT / name).is_dir() for name in named)


SETTINGS = [*sorted(GITHUB.rglob("*.y*ml")), CHECKOUT / ".pre-commit-config.yaml"]


@pytest.mark.parametrize("path", SETTINGS, ids=lambda path: path.name)
def test_settings_are_yaml(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict)


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == protonn_edge.__version__
    assert f"## {protonn_edge.__version__}\n" in (CHECKOUT / "CHANGELOG.md").read_text("utf-8")


def imported() -> set[str]:
    """Return the top-level names that the package imports, without its own and Python's."""
    found = set[str]()
    for path in Path(protonn_edge.__file__).parent.rglob("*.py"):
        if "shim" in path.parts:  # SCons runs it
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module).partition(".")[0])
    return found - {"protonn_edge"} - sys.stdlib_module_names


def test_all_that_is_imported_is_declared() -> None:
    given = project()
    extras = {**given["optional-dependencies"], "needed": given["dependencies"]}
    # pytest, of the tests' extra, loads a plugin of the package
    of_users = set(extras) - {"all", "docs", "lint", "mutants", "versions"}
    declared = {re.match(r"[\w-]+", each)[0].lower() for name in of_users for each in extras[name]}
    distributions = packages_distributions()
    undeclared = {
        name
        for name in imported()
        if not declared & {each.lower() for each in distributions.get(name, [name])}
    }
    assert undeclared == set()


def test_every_dependency_has_its_reason() -> None:
    reasons = (CHECKOUT / "docs" / "installation.md").read_text("utf-8")
    listed = re.findall(r"^\| ([a-z0-9-]+) \|", reasons.split("## Why each")[1], re.MULTILINE)
    named = [re.match(r"[\w-]+", each)[0] for each in project()["dependencies"]]
    assert set(listed) - {"dependency"} == set(named)
