"""A browser, what it is shown, and what it complains about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from evidence_factory import hostile_model
from model_factory import random_model, random_points
from playwright.sync_api import Browser, Page
from system_browser import axe_source

from protonn_edge import LinearRegressor
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.naming import NO_LABEL
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.value.rule import Value
from protonn_edge.report.content import page_script
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.gathering import gather
from protonn_edge.report.page import render_page

WIDE = (1120, 900)


def evidence_from(
    folder: Path, model: Model, X: np.ndarray, y: np.ndarray, values: np.ndarray | None = None
) -> Evidence:
    """Build a model, run points on the emulated board, and gather what a report rests on."""
    board, project, results = load_board("uno"), Project(folder), folder / "results.csv"
    build(model, board, folder)
    measure(project, (X, y), board, results=results, values=values)
    return gather(results, [model], [project], board, data=(X, y), values=values)


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Return a run of the test digits."""
    needs_tools()
    dataset = load_digits_dataset()
    classifier = ProtoNNClassifier(
        n_projections=10, n_prototypes=40, epochs=60, batch_size=64, image_shape=(8, 8),
        random_state=0,
    )  # fmt: skip
    classifier.fit(dataset.X_train, dataset.y_train)
    model = classifier.to_model(classes=dataset.classes, feature_names=dataset.feature_names)
    folder = tmp_path_factory.mktemp("digits")
    return evidence_from(folder, model, dataset.X_test, dataset.y_test)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Return a run of a model whose classes have names that want to break out."""
    needs_tools()
    X = random_points(0, 300, 12)[:20].astype(np.float32)  # the first of those the model is made of
    labels = np.arange(20) % 4
    return evidence_from(tmp_path_factory.mktemp("hostile"), hostile_model(), X, labels)


@pytest.fixture(scope="session")
def crops(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Return a run of a model with a column of texts."""
    needs_tools()
    rng = np.random.default_rng(0)
    X = rng.random((200, 4)).astype(np.float32)
    X[:, 0] = rng.integers(0, 2, 200)
    X[:, 1] = 1 - X[:, 0]
    y = (X[:, 2] > X[:, 0] / 2 + 0.25).astype(int)
    classifier = ProtoNNClassifier(n_prototypes=4, epochs=5, random_state=0).fit(X, y)
    names = ("crop=basil", "crop=tomato", "soil", "hour")
    model = classifier.to_model(classes=("no", "yes"), feature_names=names)
    one_hot = Preparation(one_hot={"crop": ("basil", "tomato")})
    model = replace(model, record={**model.record, **one_hot.to_record()})
    return evidence_from(tmp_path_factory.mktemp("crops"), model, X[:20], y[:20])


@pytest.fixture(scope="session")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Return a run of a model that predicts a number, with its interval."""
    needs_tools()
    rng = np.random.default_rng(0)
    X = rng.random((200, 3)).astype(np.float32)
    y = 20 + 30 * X[:, 0] - 9 * X[:, 1] ** 2 + rng.normal(size=200)
    regressor = LinearRegressor().fit(X[:150], y[:150])
    model = regressor.to_model(classes=("level",), feature_names=("a", "b", "c"))
    value = model.policy.find(Value)
    assert value is not None
    model = with_rules(model, replace(value, half_width=1.5))
    none = np.full(50, NO_LABEL)
    return evidence_from(tmp_path_factory.mktemp("levels"), model, X[150:], none, y[150:])


@pytest.fixture(scope="session")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Return a run of a model with thirty classes whose names have 40 letters."""
    needs_tools()
    names = tuple(f"article {number} cover of the housing, long" for number in range(1000, 1030))
    model = replace(random_model(prototypes=30, classes=30), classes=names)
    X = random_points(0, 300, 12)[:60].astype(np.float32)
    return evidence_from(tmp_path_factory.mktemp("articles"), model, X, np.arange(60) % 30)


def needs_tools() -> None:
    """Skip where no firmware can be built and run, or no script of the page made."""
    skip_without(*EMULATED_AVR)
    script = page_script()
    if script.text is None:
        pytest.skip(f"needs the page's script; to run: {script.missing}")


@dataclass
class Shown:
    """A page in the browser, and what came of it beside the page."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def answer(self) -> dict[str, str]:
        """What the Uno answered last."""
        answer: dict[str, str] = self.page.evaluate(
            "({ ...document.getElementById('uno-page').dataset })"
        )
        return answer

    def paste(self, row: str) -> None:
        """Give the Uno a row of text."""
        self.page.fill("[data-part=row]", row)
        self.page.click("[data-part=use]")

    def wait_for_answer(self, **wanted: object) -> dict[str, str]:
        """Wait until the Uno's answer has these values, and return it."""
        tests = [f'[data-{name}="{value}"]' for name, value in wanted.items()]
        self.page.wait_for_selector("#uno-page[data-label]" + "".join(tests), timeout=60_000)
        return self.answer


Show = Callable[..., Shown]


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that writes the report of evidence, once."""
    folder = tmp_path_factory.mktemp("reports")

    @lru_cache
    def render(evidence: Evidence) -> Path:
        path = folder / f"{len(list(folder.iterdir()))}.html"
        path.write_text(render_page(evidence, page_script()), "utf-8")
        return path

    return render


@pytest.fixture
def show(browser: Browser, rendered: Callable[..., Path]) -> Iterator[Show]:
    """Give a function that shows the report of evidence."""
    contexts = []

    def show_report(evidence: Evidence, size: tuple[int, int] = WIDE, dark: bool = False) -> Shown:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        shown = Shown(context.new_page())
        shown.page.on("console", lambda message: shown.complaints.append(message.text))
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.on("dialog", lambda dialog: shown.complaints.append(dialog.message))
        shown.page.on("request", lambda request: shown.requests.append(request.url))
        shown.page.goto(rendered(evidence).as_uri())
        return shown

    yield show_report
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Return axe-core's source: fetched by npm once, kept in the user's cache."""
    return axe_source()
