"""The page of ``data --html`` in a real browser: quiet, whole, and for everyone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import succeed
from messy_table import write_table
from playwright.sync_api import Browser
from system_browser import assert_no_barriers

SIZES = [(1280, 900), (390, 844)]


@pytest.fixture(scope="module", params=["table", "sound", "hostile"])
def page_of_data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the page of a messy table, of sounds, or of data with names that want to break out."""
    folder = tmp_path_factory.mktemp("data")
    generator, data = np.random.default_rng(0), folder / "data.csv"
    if request.param == "table":
        write_table(data, 500, seed=1)
    elif request.param == "sound":
        data = folder / "data.npz"
        X = generator.normal(size=(20, 2_000, 1)).astype(np.float32)
        X[3] += 40
        np.savez(data, X_train=X, y_train=np.arange(20) % 2, sample_rate=4_000.0)
    else:
        evil = "<img src=http://127.0.0.1/x onerror=alert(1)>" + "long" * 10
        lines = [f'"{evil}","</style><script>alert(2)</script>",session,time,label']
        numbers = generator.normal(size=(60, 2))
        lines += [
            f'{a:.2f},{b:.2f},{evil},{i},"{evil}{i // 30}"' for i, (a, b) in enumerate(numbers)
        ]
        data.write_text("\n".join(lines) + "\n")
    succeed("data", data, "--html", folder / "page.html")
    return folder / "page.html"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_quiet_fits_and_has_no_serious_barrier(
    browser: Browser, axe: str, page_of_data: Path, size: tuple[int, int], scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, bypass_csp=True
    )
    page, complaints, requests = context.new_page(), [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_of_data.as_uri())
    assert complaints == []
    assert {url.partition(":")[0] for url in requests} <= {"file", "data"}
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for svg in page.locator("svg.lines, svg.plane").all():
        assert svg.bounding_box()["height"] > 40
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert_no_barriers(found)
    context.close()
