"""The studio's page in a browser without a network, and laws that hold on each of its screens."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from extensions.studio.kept_studio import own_module
from playwright.sync_api import Browser, Locator, Page, expect
from programs import started
from system_browser import axe_source

STAGES = ("data", "train", "try", "board", "report")
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
_SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
_PATIENCE_MS = 120_000  # with whatever a busy computer does
_LEAST_CONTRAST, _LEAST_OF_LARGE = 4.5, 3.0  # WCAG 2.2, success criterion 1.4.3
_AXE = "axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })"


@dataclass
class Shown:
    """The page, and what came of it beside the page."""

    page: Page
    folder: Path
    url: str
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    @property
    def stage(self) -> Locator:
        return self.page.locator(".stage:not([hidden])")

    @property
    def primary(self) -> Locator:
        return self.stage.locator(".act .primary")

    def tab(self, url: str = "") -> Page:
        """Open the page in another tab."""
        page = self.page.context.new_page()
        page.goto(url or self.url)
        expect(page.locator("#folder")).to_have_text(self.folder.name)
        return page

    def go(self, stage: str) -> None:
        """Press a stage in the bar."""
        self.page.locator(f"[data-stage={stage}]").click()
        expect(self.page.locator(f"#stage-{stage}")).to_be_visible()

    def press_primary(self, words: str) -> None:
        """Press the primary action by a key, once it has these words."""
        expect(self.primary).to_have_text(words)
        expect(self.primary).to_be_enabled()
        self.primary.focus()
        self.page.keyboard.press("Enter")

    @property
    def sheet(self) -> Locator:
        return self.page.locator("#sheet[open]")

    def drop(self, *paths: Path) -> Locator:
        """Give files, or a folder, to the page; return the sheet that opens."""
        place = "#folders" if paths[0].is_dir() else "#files"
        self.page.locator(place).set_input_files([*paths] if place == "#files" else paths[0])
        expect(self.sheet.locator(".last")).to_be_visible()
        return self.sheet

    def bring(self, *paths: Path) -> None:
        """Give files to the page, and keep them by one press."""
        self.drop(*paths)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#sheet")).to_be_hidden()

    def put(self, *paths: Path) -> None:
        """Copy files into the folder by other means, and choose the first one."""
        for path in paths:
            shutil.copy(path, self.folder)
        self.page.evaluate("(data) => studio.choose({ data })", paths[0].name)
        self.go("data")

    def mark(self, stage: str) -> str:
        """Return the mark of a stage."""
        return str(self.page.locator(f"[data-stage={stage}]").get_attribute("class"))

    def expect_mark(self, stage: str, *marks: str) -> None:
        """Wait until a stage has one of some marks."""
        link = self.page.locator(f"[data-stage={stage}]")
        selector = ", ".join(f".{mark}" for mark in marks)
        expect(link.and_(self.page.locator(selector))).to_be_visible()

    def lines(self) -> list[str]:
        """Return the command lines of the drawer."""
        return self.page.locator("#commands li code").evaluate_all(
            "(all) => all.map((one) => one.firstChild.textContent)"
        )

    def in_view(self, *selectors: str) -> list[str]:
        """Return those of the elements that are not within the window."""
        found: list[str] = self.page.evaluate(OUT_OF_VIEW, selectors)  # of one moment
        return found

    def barred(self) -> list[object]:
        """Return how the screen breaks the laws of every screen, with the size and the scheme."""
        page, found = self.page, list[object]()
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe_source())
        for size in (PHONE, DESK):
            page.set_viewport_size(size)
            for scheme in _SCHEMES:
                page.emulate_media(color_scheme=scheme)
                laws = page.evaluate(LAWS, [_LEAST_CONTRAST, _LEAST_OF_LARGE])
                found += [(size, scheme, law) for law in laws]
            for each in page.evaluate(_AXE)["violations"]:  # beside contrast, of any scheme
                nodes = [node["html"][:160] for node in each["nodes"][:3]]
                found.append((size, each["id"], nodes))
        return found


@contextmanager
def opened(browser: Browser, url: str, folder: Path, **options: Any) -> Iterator[Shown]:
    """Open the page, in a context that reaches only its server."""
    context = browser.new_context(**{"viewport": DESK, "reduced_motion": "reduce", **options})
    context.set_default_timeout(_PATIENCE_MS)
    expect.set_options(timeout=_PATIENCE_MS)
    shown = Shown(context.new_page(), folder, url)
    own = url.partition("#")[0]

    def asked(request: Any) -> None:
        if not request.url.startswith((own, "data:", "blob:")):
            shown.elsewhere.append(request.url)

    def refused(answer: Any) -> None:
        if answer.status >= 400:
            url, sent = answer.url.partition("#")[0], answer.request.post_data
            shown.complaints.append(f"{answer.status} {url} {sent}")

    context.route(lambda asked: not asked.startswith(own), lambda route: route.abort())
    context.on("request", asked)
    context.on("console", lambda message: shown.complaints.append(message.text))
    context.on("response", refused)
    context.on("weberror", lambda error: shown.complaints.append(str(error.error)))
    shown.page.goto(url)
    expect(shown.page.locator("#folder")).to_have_text(folder.name)
    yield shown
    context.close()


@contextmanager
def studio(folder: Path, port: int = 0) -> Iterator[str]:
    """Run the command in a folder; give the page's address."""
    command = own_module("protonn_edge", ["studio", str(folder), "--port", str(port)])
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    with started(*command, "--no-browser", **pipes) as program:
        yield program.stdout.readline().strip().rpartition(": ")[2]
        program.terminate()
        assert program.wait(20) == 143


OUT_OF_VIEW = """(selectors) => selectors.filter((selector) => {
    const one = document.querySelector(selector);
    const { top, bottom, left, right, width } = one.getBoundingClientRect();
    return !(one.checkVisibility() && width > 0 && top >= 0 && left >= 0
        && bottom <= innerHeight + 1 && right <= innerWidth + 1);
})"""

LAWS = """([least, leastOfLarge]) => {
    const found = [];
    const visible = (one) => one.checkVisibility() && !one.closest("[inert], .skip, .unseen");
    const all = (selector) => [...document.querySelectorAll(selector)].filter(visible);
    const text = (one) => one.outerHTML.slice(0, 100);
    if (document.documentElement.scrollWidth > innerWidth) {
        found.push(["it scrolls sideways", document.documentElement.scrollWidth]);
    }
    for (const one of [".stage", "h1"]) {
        if (all(one).length !== 1) { found.push(["not one", one, all(one).length]); }
    }
    for (const one of all("select")) {
        if (!one.options.length) { found.push(["nothing to choose", text(one)]); }
    }
    const primary = all(".primary:enabled").filter((one) => !one.closest(".editing, dialog"));
    if (primary.length > 1) { found.push(["several primary actions", ...primary.map(text)]); }
    for (const one of all("button, a, input, select, summary")) {
        const { width, height } = one.getBoundingClientRect();
        const within = one.closest("label")?.getBoundingClientRect().height ?? 0;
        if (Math.max(height, within) < 24 || width < (one.matches("input") ? 16 : 24)) {
            found.push(["a small target", text(one)]);
        }
        const named = one.textContent.trim() || one.ariaLabel || one.labels?.length;
        if (!named) { found.push(["no name", text(one)]); }
    }
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const colour = (value) => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = value;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    for (const one of all("body *")) {
        const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!words || one.closest(":disabled, svg, option, .before")) { continue; }
        let behind = one;
        while (behind && colour(getComputedStyle(behind).backgroundColor)[3] < 255) {
            behind = behind.parentElement;
        }
        const paper = behind ? colour(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
        const style = getComputedStyle(one);
        const [low, high] = [light(colour(style.color)), light(paper)].sort((a, b) => a - b);
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        if ((high + 0.05) / (low + 0.05) < (large ? leastOfLarge : least)) {
            found.push(["low contrast", text(one)]);
        }
    }
    return found;
}"""
