"""The page of a certificate in a real browser, of any width."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from protonn_edge.extensions.proof.certificate.claims import (
    MEASURED,
    PROVEN,
    Certificate,
    Claim,
    Settings,
)

STATEMENT = "no function called by pnn_predict is recursive or called through a pointer"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    claims = [Claim(f"c{i}", STATEMENT, PROVEN, f"following the code, {i}") for i in range(12)]
    claims += [Claim("firmware", STATEMENT, MEASURED, "the serial line", points=128)]
    subject = {"kind": "project", "core": "avr5", "compilers": "GCC: (GNU) 7.3.0"}
    hashes = {f"firmware/file_{i}.c": f"{i:064x}" for i in range(30)} | {"firmware": "a" * 64}
    page = tmp_path_factory.mktemp("certificate") / "certificate.html"
    page.write_text(Certificate(subject, Settings("uno"), hashes, tuple(claims)).page(), "utf-8")
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_its_claims_can_be_read_at_any_width(
    browser: Browser, certificate: Path, width: int
) -> None:
    """On a phone they were columns of one or two words, on a page of 13,000 pixels."""
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(certificate.as_uri())
    claims = page.locator("main section:first-of-type tbody th").all()
    assert len(claims) == 12
    assert all(each.bounding_box()["width"] > 300 for each in claims)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 3_000
    assert page.locator(".narrow").is_visible() == (width < 500)
    digest = page.locator("td code", has_text="a" * 64)
    assert not digest.is_visible()
    page.emulate_media(media="print")
    assert digest.is_visible()
    context.close()
