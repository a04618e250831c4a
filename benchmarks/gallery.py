"""The reports of several data sets, and their screenshots for the docs.

`make gallery` trains, builds and runs each model on the emulated Uno, and writes its report to the
folder `gallery`. The data are scikit-learn's digits, and the sets in `gallery_sets`. The
screenshots need Chromium on PATH.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from columns import Record, figure
from gallery_sets import RATE_HZ, WINDOW, machine_states, motions
from PIL import Image
from runner import Benchmark
from trained import Row

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.evaluation.measurement import measure as measured
from protonn_edge.model.model import Model
from protonn_edge.policy.rejection.calibration import statistics_of, with_rejection
from protonn_edge.report.content import page_script
from protonn_edge.report.gathering import gather
from protonn_edge.report.page import render_page
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_atomically

DOCS = Path(__file__).parents[1] / "docs"
_SIZES = {"n_projections": 10, "n_prototypes": 40}
_FEATURES = {"features": "mean,deviation,min,max,crossings", "window_shape": WINDOW}
_CALIBRATED_ON = 120  # of the motions' test windows, which the report leaves out


def _of(make: Callable[[], Dataset]) -> Callable[[Dataset], Dataset]:
    """Return what puts made data in the place of digits."""
    return lambda _digits: make()


# With a rate, a model rejects this share of known points.
ROWS = (
    Row("digits", None, {**_SIZES, "batch_size": 64, "image_shape": (8, 8)},
        about={"title": "Handwritten digits on an Uno"}),
    Row("machine", None, {"n_projections": 8, "n_prototypes": 60}, part=_of(machine_states),
        about={"title": "The state of a pump on an Uno"}),
    Row("motions", None,
        {"n_projections": 5, "n_prototypes": 16, "sample_rate": RATE_HZ, **_FEATURES},
        part=_of(motions), about={"title": "Motions of a hand on an Uno", "rate": 0.03}),
)  # fmt: skip


@dataclass(frozen=True)
class Shot:
    """A screenshot: of which report, in what window, and where the page is scrolled to.

    `pointed_at` selects what the pointer is over.
    """

    name: str
    report: str
    place: str
    size: tuple[int, int] = (1280, 860)
    dark: bool = False
    pointed_at: str = ""


_PHONE = (390, 844)
SHOTS = [
    Shot("light", "digits", "body"),
    Shot("dark", "digits", "#accuracy", dark=True, pointed_at='[data-cell="8 1"]'),
    Shot("twelve", "machine", "#accuracy", pointed_at='[data-cell="2 3"]'),
    Shot("windows", "motions", "#uno", dark=True),
    Shot("narrow", "digits", "#uno", size=_PHONE),
    Shot("narrow-twelve", "machine", "#accuracy", size=_PHONE, dark=True),
]
SEVEN = [(0.24, 0.2), (0.5, 0.17), (0.76, 0.18), (0.6, 0.48), (0.44, 0.86)]
_COLOURS = 256


def write_report(row: Row, dataset: Dataset, path: Path) -> None:
    """Train, build, run and write one report."""
    board = load_board("uno")
    model: Model = replace(row.train(dataset, 0), feature_names=dataset.feature_names)
    points = (dataset.X_test, dataset.y_test)
    if "rate" in row.about:
        known = statistics_of(model, dataset.X_test[:_CALIBRATED_ON])
        model = with_rejection(model, known, row.about["rate"])
        points = (dataset.X_test[_CALIBRATED_ON:], dataset.y_test[_CALIBRATED_ON:])
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        build(model, board, folder)
        results = folder / "results.csv"
        measured(Project(folder), points, board, results=results)
        run = gather(
            results, [model], [Project(folder)], board, data=points, data_name=f"{row.name}.csv"
        )
    write_atomically(path, render_page(run, page_script(), title=row.about["title"]))


def photograph(report: Path) -> None:
    """Write the screenshots of a report."""
    from playwright.sync_api import sync_playwright  # only this needs it

    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        raise InputError("no Chromium is on PATH for the screenshots; install Debian's chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        for shot in SHOTS:
            if shot.report == report.stem:
                write_atomically(DOCS / f"report-{shot.name}.png", _taken(chromium, shot, report))
        chromium.close()


def _taken(chromium: Any, shot: Shot, report: Path) -> bytes:
    width, height = shot.size
    page = chromium.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shot.dark else "light",
        reduced_motion="reduce",
    )
    page.goto(report.as_uri())
    page.wait_for_selector("#uno-page[data-label]")
    if page.locator("[data-part=pad]").count():
        draw(page, SEVEN)
    page.locator(shot.place).evaluate("(one) => one.scrollIntoView({ behavior: 'instant' })")
    if shot.pointed_at:
        page.hover(shot.pointed_at, force=True)
    page.wait_for_timeout(500)
    taken = _small(page.screenshot())
    page.close()
    return taken


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
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    few = picture.quantize(_COLOURS, kmeans=1, dither=Image.Dither.NONE)
    few.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def measure(row: Row, dataset: Dataset) -> Record:
    """Write a report, and its screenshots."""
    path = Path("gallery").absolute() / f"{row.name}.html"
    write_report(row, dataset, path)
    photograph(path)
    return {"report": str(path), "bytes": path.stat().st_size}


BENCHMARKS = {
    "gallery": Benchmark(
        "The reports of several data sets, and their screenshots in docs/.",
        ROWS,
        (figure("report", "report"), figure("B", "bytes", ",")),
        measure,
    ),
}
