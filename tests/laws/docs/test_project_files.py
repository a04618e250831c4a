"""What the README promises in numbers, and what the files of the project say of each other."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
import yaml
from checkout import CHECKOUT, skip_unless_checked_out
from command_line import every_command
from doc_blocks import PAGES
from lines import code_lines
from markdown_it import MarkdownIt
from packaging.requirements import Requirement

import protonn_edge
from protonn_edge.cli.tables import READ_HELP

GITHUB = CHECKOUT / ".github"
SOURCES = ("results", "image-features", "sensors", "audio")


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


def test_the_lines_to_trust_are_counted() -> None:
    text = (CHECKOUT / "docs" / "certificate.md").read_text("utf-8").split("### Trust")[1]
    figures = re.findall(r"([\d,]+) (?:lines of code )?in `(protonn_edge/[\w/]+)`", text)
    assert len(figures) == 3
    for figure, folder in figures:
        paths = (path for path in (CHECKOUT / folder).rglob("*") if path.is_file())
        lines = sum(code_lines(path) for path in paths if "__pycache__" not in path.parts)
        assert abs(int(figure.replace(",", "")) / lines - 1) < 0.05, f"{folder} has {lines:,}"


def size_of(names: Iterable[str], found: dict[str, int]) -> dict[str, int]:
    """Return the bytes of installed libraries, and of those that they need, by their names."""
    for requirement in map(Requirement, names):
        name = requirement.name.lower()
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        library = distribution(name)
        files = (
            Path(str(each.locate())) for each in library.files or () if ".pyc" not in each.name
        )
        found[name] = sum(path.stat().st_size for path in files if path.is_file())
        size_of(library.requires or (), found)
    return found


@pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info[:2] != (3, 11),
    reason="the page has the sizes of one system: run it on Linux with Python 3.11",
)
def test_the_size_of_an_installation_is_that_of_its_libraries() -> None:
    text = (CHECKOUT / "docs" / "installation.md").read_text("utf-8")
    whole, part, names = re.search(r"(\d+) MB, with (\d+) MB of ([\w\s,-]+) \(Linux", text).groups()  # type: ignore[union-attr]
    largest = [each.strip().lower() for each in re.split(r",|\sand\s", names)]
    sizes = size_of(project()["dependencies"], {"pip": 0})  # which is there before
    assert {*sorted(sizes, key=sizes.__getitem__)[-3:]} == {*largest}
    assert abs(sum(sizes.values()) / 1e6 / int(whole) - 1) < 0.05
    assert abs(sum(sizes[name] for name in largest) / 1e6 / int(part) - 1) < 0.05


def test_options_that_are_removed_do_not_exist() -> None:
    removed = (CHECKOUT / "CHANGELOG.md").read_text("utf-8").split("### Removed")[1]
    named = 0
    for item in removed.split("\n### ")[0].split("\n- "):
        if not item.startswith("`"):
            continue
        command, options = "", every_command()
        for code in re.findall(r"`([^`]+)`", item.partition(":")[0]):
            words = code.split()
            command = words[0] if words[0] in options else command
            flags = (
                {flag for each in options[command].params for flag in each.opts}
                if command
                else set()
            )
            flags -= {f"--{name}" for name in READ_HELP}  # which every command has since then
            assert not {*words} & {*flags}, item
            named += bool(command)
    assert named > 10


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
