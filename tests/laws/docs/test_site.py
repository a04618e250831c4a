"""The documentation builds without a warning, and what comes out needs no network and no source."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from checkout import CHECKOUT
from command_line import every_command
from doc_blocks import PAGES, blocks_of, skip_without_extensions

from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.registry import REGRESSORS

DEADLINE_S = 300.0
REGISTRIES = re.compile(r"pypi\.org|npmjs|registry\.platformio|githubusercontent|readthedocs")
OWN_PATHS = re.compile(r"(?<![\w.])/(?:home|root|work|Users|opt)/|[A-Z]:\\Users")
LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the HTML pages."""
    pytest.importorskip("sphinx", reason="needs Sphinx; to run: make docs")
    skip_without_extensions()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
    closed = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(
        [*command, "-d", folder / ".doctrees", CHECKOUT / "docs", folder / "html"],
        env={**os.environ, **closed, "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


class References(HTMLParser):
    """What a page loads, where it leads, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in LOADING and LOADING[tag] in values:
            self.loaded.append(values[LOADING[tag]])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def test_pages_load_nothing_from_elsewhere(site: Path):
    for page in site.glob("*.html"):
        loaded = References(page.read_text("utf-8")).loaded
        assert not [name for name in loaded if re.match(r"\w+:|//", name)], page.name


def test_links_within_the_site_lead_somewhere(site: Path):
    pages = {page.name: References(page.read_text("utf-8")) for page in site.glob("*.html")}
    lost = []
    for name, page in pages.items():
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            if re.match(r"\w+:", link) or (target and not target.endswith(".html")):
                continue
            there = pages.get(target or name)
            if there is None or (anchor and anchor not in there.anchors):
                lost.append(f"{name}: {link}")
    assert lost == []


def test_the_navigation_has_few_entries_and_every_block_a_copy_button(site: Path):
    text = (site / "index.html").read_text("utf-8")
    entries = re.findall(r'<li class="toctree-l1[^"]*"', text)
    assert 20 <= len(entries) <= 25
    script = (site / "_static" / "copybutton.js").read_text("utf-8")
    assert r"\$ |>>> " in script  # of a command, only what a reader types is copied
    for page in site.glob("*.html"):
        loaded = " ".join(References(page.read_text("utf-8")).loaded)
        assert "copybutton.js" in loaded, page.name
        assert "site.css" in loaded, page.name


def test_tables_of_many_columns_and_few_rows_are_turned(site: Path):
    for page in site.glob("*.html"):
        for table in re.findall(r"<table.*?</table>", page.read_text("utf-8"), re.DOTALL):
            columns, rows = len(re.findall(r"<th\b", table)), len(re.findall(r"<tr\b", table))
            assert columns < 10 or rows > 7, page.name
    page = (CHECKOUT / "docs/sensors.md").read_text("utf-8")
    flash = re.search(r"^\| magic_wand .*\| ([\d,]+) \| [\d +]+ \|$", page, re.MULTILINE)
    assert flash is not None
    text = (site / "sensors.html").read_text("utf-8")
    assert re.search(rf"<td>\s*<p>flash B</p></td>\s*<td>\s*<p>{flash[1]}</p></td>", text)


def test_the_first_use_of_a_word_leads_to_the_glossary(site: Path):
    text = (site / "training.html").read_text("utf-8")
    words = re.findall(r'<a class="word[^"]*" href="glossary.html#([^"]+)" title="[^"]+">', text)
    assert {"word-epoch", "word-gamma", f"letter-{ord('W')}"} <= {*words}
    assert len(words) == len({*words})
    linked = re.findall(r'<a class="word', (site / "glossary.html").read_text("utf-8"))
    assert linked == []


def test_no_page_names_the_machine_it_was_made_on(site: Path):
    for page in site.glob("*.html"):
        assert str(CHECKOUT) not in page.read_text("utf-8")


def test_every_command_is_in_the_reference(site: Path):
    text = (site / "commands.html").read_text("utf-8")
    for name, command in every_command().items():
        assert f"protonn-edge-{name}" in text
        options = [each.opts[0] for each in command.params if isinstance(each, click.Option)]
        assert [option for option in options if option not in text] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_in_the_repository_lead_to_files(path: Path):
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert re.match(r"https?:", target) or (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_has_a_registry_or_a_path_of_one_machine(path: Path):
    text = path.read_text("utf-8")
    assert not REGISTRIES.search(text)
    assert not OWN_PATHS.search(text)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_tables_and_paragraphs_are_whole(path: Path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = re.sub(r"\\\||`[^`\n]*`", "", table).splitlines()
        assert {row.count("|") for row in rows} == {rows[0].count("|")}, table
        assert [row for row in rows if not row.strip("|-:")] == rows[1:2], table
    assert re.findall(r"^ \S.*", text, re.MULTILINE) == []
    assert re.findall(r".*:\n\n[A-Za-z].*", text) == []


def test_the_generated_reference_is_on_its_pages(site: Path):
    text = (site / "python.html").read_text("utf-8")
    for estimator in (*CLASSIFIERS.values(), *REGRESSORS.values()):
        assert f'id="protonn_edge.{estimator.__name__}"' in text
    assert "head.projection" in text
    assert "WINDOW answer" in (site / "protocol.html").read_text("utf-8")


def test_the_tutorial_takes_five_commands_from_data_to_a_report():
    (first,) = (path for path in PAGES if path.name == "tutorial.md")
    own = [
        line.split()[2]
        for block in blocks_of(first)
        for line in block.text.splitlines()
        if line.startswith("$ protonn-edge ")
    ]
    assert own == ["demo", "train", "build", "verify", "hil", "report", "export"]


def test_the_gesture_tutorial_takes_six_commands_on_either_board():
    (page,) = (path for path in PAGES if path.name == "tutorial-gesture.md")
    run = [
        line.removeprefix("$ ")
        for block in blocks_of(page)
        for line in block.text.splitlines()
        if line.startswith("$ protonn-edge ")
    ]
    table = re.findall(r"^\| (\d) \| `(.+)` \|$", page.read_text("utf-8"), re.MULTILINE)
    assert [number for number, _ in table] == list("123456")
    emulated = r" --emulate --sensor \S+| --takes \d+| --seconds \d+"
    with_a_board = [command.removesuffix(" --upload") for _, command in table]
    assert [re.sub(emulated, "", command) for command in run[:6]] == with_a_board
