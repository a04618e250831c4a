"""A certificate as a page, and its claims in a report."""

from __future__ import annotations

from pathlib import Path

import pytest
from chains import replace
from evidence_factory import evidence_of, hostile_model
from page_reader import Reader
from playwright.sync_api import Browser

from protonn_edge.extensions.proof.certificate import panels as certificate
from protonn_edge.extensions.proof.certificate.claims import (
    MEASURED,
    PROVEN,
    Certificate,
    Claim,
    Settings,
)
from protonn_edge.report.content import PageScript
from protonn_edge.report.page import render_page

SCRIPT = PageScript("")


@pytest.fixture(scope="module")
def one():
    return evidence_of(hostile_model())


def test_claims_are_shown_with_what_shows_them(one, monkeypatch):
    claim = Claim("stack", "the stack takes at most <80> B", PROVEN, "following the code")
    monkeypatch.setattr(certificate, "firmware_claims", lambda *_: [claim])
    firmware = replace(one.firmware, linked=object())
    text = "".join(Reader(render_page(replace(one, firmware=firmware), SCRIPT)).texts)
    assert "the stack takes at most <80> B" in text
    assert f"measured on {len(one.results)} points" in text
    assert "protonn-edge verify PROJECT --board uno" in text
    assert "the board returns the same scores as the integer model" in text
    wrong = replace(one.results[0], mismatch=True)
    differing = replace(one, firmware=firmware, results=(wrong, *one.results[1:]))
    text = "".join(Reader(render_page(differing, SCRIPT)).texts)
    assert "the board returns the same scores as the integer model" not in text


STATEMENT = "no function called by pnn_predict is recursive or called through a pointer"


@pytest.fixture(scope="module")
def of_claims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    claims = [Claim(f"c{i}", STATEMENT, PROVEN, f"following the code, {i}") for i in range(12)]
    claims += [Claim("firmware", STATEMENT, MEASURED, "the serial line", points=128)]
    subject = {"kind": "project", "core": "avr5", "compilers": "GCC: (GNU) 7.3.0"}
    hashes = {f"firmware/file_{i}.c": f"{i:064x}" for i in range(30)} | {"firmware": "a" * 64}
    page = tmp_path_factory.mktemp("certificate") / "certificate.html"
    page.write_text(Certificate(subject, Settings("uno"), hashes, tuple(claims)).page(), "utf-8")
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_its_claims_can_be_read_at_any_width(browser: Browser, of_claims: Path, width: int) -> None:
    """On a phone they were columns of one or two words, on a page of 13,000 pixels."""
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(of_claims.as_uri())
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
