"""Many tabs share one connection, another tab takes over, and a new studio finds its own tabs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

TABS = 8  # a browser has six connections to a server


def opened(context: Any, url: str) -> Page:
    page: Page = context.new_page()
    page.goto(url)
    expect(page.locator("#folder")).to_have_text("folder")
    return page


def test_tabs_share_a_connection_and_outlive_the_one_that_has_it(
    browser: Browser, site: Any
) -> None:
    context = browser.new_context()
    tabs = [opened(context, site.server.url) for _ in range(TABS)]
    for number in range(2):
        name = f"new{number}.csv"
        site.server.workspace.drop(name, b"label,a\nx,1\ny,2\n")
        for tab in tabs:
            expect(tab.locator(f"#training [name=data] option[value='{name}']")).to_be_attached()
        tabs.pop(0).close()
    context.close()


def test_the_tabs_of_an_ended_studio_do_not_keep_a_new_ones_from_it(
    browser: Browser, serve: Any, tmp_path: Path
) -> None:
    context, folder = browser.new_context(), tmp_path / "folder"
    folder.mkdir()
    with serve(folder) as site:
        port, old = site.server.server_port, opened(context, site.server.url)
        expect(old.locator("#connection")).to_have_text("")
    with serve(folder, port) as site:
        new = opened(context, site.server.url)
        expect(new.locator("#connection")).to_have_text("")
        expect(old.locator("#connection")).to_contain_text("open the address that", timeout=15_000)
        site.server.workspace.drop("new.csv", b"label,a\nx,1\ny,2\n")
        expect(new.locator("#training [name=data]")).to_have_value("new.csv")
    context.close()
