"""The reports of four data sets, and screenshots of the first for the docs.

    python benchmarks/gallery.py [--only NAME] [-o FOLDER]

trains, builds and runs each model on the emulated Uno, and writes its report to a folder, with a
page that links to all of them. The digits come with scikit-learn, and the screenshots in docs/ are
theirs; the other sets are read from the folder that PROTONN_EDGE_DATA names (default
../shared/data), and left out where it does not have them. The screenshots need Chromium on PATH.
"""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from PIL import Image
from rows import Row, chosen

from protonn_edge.boards import load_board
from protonn_edge.build.project import Project, build
from protonn_edge.datasets import Dataset
from protonn_edge.errors import InputError, ProtoNNEdgeError
from protonn_edge.evaluation.gathering import gather
from protonn_edge.evaluation.measurement import measure
from protonn_edge.report.page import render_page
from protonn_edge.report.script import page_script
from protonn_edge.system.files import write_atomically

DOCS = Path(__file__).parents[1] / "docs"
_SIZES = {"n_projections": 10, "n_prototypes": 40}
ROWS = [
    Row("digits", None, {**_SIZES, "batch_size": 64, "image_shape": (8, 8)}),
    Row("usps", "usps10_libsvm.npz", {**_SIZES, "dead_zone": 0.15, "image_shape": (16, 16)}),
    Row("letter", "letter26.npz", {"n_projections": 12, "n_prototypes": 260}),
    Row("har", "har_hapt.npz", {"n_projections": 10, "n_prototypes": 30}),
]
TITLES = {
    "digits": "Handwritten digits on an Uno",
    "usps": "Digits of letters' addresses on an Uno",
    "letter": "Printed letters on an Uno",
    "har": "What a person does, by a phone, on an Uno",
}
# Name, window, whether it is dark, and where the page is scrolled to.
SHOTS: list[tuple[str, tuple[int, int], bool, str]] = [
    ("light", (1120, 900), False, "body"),
    ("dark", (1120, 900), True, "#accuracy"),
    ("narrow", (390, 844), False, "#uno"),
]
SEVEN = [(0.24, 0.2), (0.5, 0.17), (0.76, 0.18), (0.6, 0.48), (0.44, 0.86)]
_COLOURS = 128


def write_report(row: Row, dataset: Dataset, path: Path) -> None:
    """Train, build, run and write one report."""
    board = load_board("uno")
    model = replace(row.train(dataset, 0)[0], feature_names=dataset.feature_names)
    points = (dataset.X_test, dataset.y_test)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        build(model, board, folder)
        results = folder / "results.csv"
        measure(Project(folder), points, board, results=results)
        run = gather(results, [model], [Project(folder)], board, data=points)
    write_atomically(path, render_page([run], page_script(), title=TITLES[row.name]))


def photograph(report: Path, folder: Path) -> None:
    """Write screenshots of a report, in light, in dark and as on a phone."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this needs it

    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        raise InputError("no Chromium is on PATH for the screenshots; install Debian's chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        for name, (width, height), dark, place in SHOTS:
            page = chromium.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
            )
            page.goto(report.absolute().as_uri())
            page.wait_for_selector("#uno-page[data-label]")
            draw(page, SEVEN)
            page.locator(place).evaluate("(one) => one.scrollIntoView({ behavior: 'instant' })")
            write_atomically(folder / f"report-{name}.png", _small(page.screenshot()))
        chromium.close()


def draw(page: Any, stroke: list[tuple[float, float]]) -> None:
    """Draw a stroke with the mouse, given in parts of the pad's side."""
    pad = page.locator("[data-part=pad]")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.wait_for_timeout(200)
    page.mouse.up()


def _small(png: bytes) -> bytes:
    """Return a picture with few colours, which is all that a quiet page has."""
    stream = io.BytesIO()
    picture = (
        Image.open(io.BytesIO(png)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    )
    picture.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _index(names: list[str]) -> str:
    links: Any = "\n".join(f'<li><a href="{name}.html">{TITLES[name]}</a>' for name in names)
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>protonn-edge</title>'
    return f"{head}<h1>Reports</h1><ul>{links}</ul>\n"


@click.command()
@click.option("--only", type=click.Choice([row.name for row in ROWS]), help="One report.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("gallery"))
def main(only: str | None, output: Path) -> None:
    """Write the reports, and the screenshots."""
    names = []
    for row, dataset in chosen(ROWS, only):
        path = output / f"{row.name}.html"
        write_report(row, dataset, path)
        names.append(row.name)
        click.echo(f"{path}: {path.stat().st_size / 1000:,.0f} kB")
    if "digits" in names:
        photograph(output / "digits.html", DOCS)
    write_atomically(output / "index.html", _index(names))


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
