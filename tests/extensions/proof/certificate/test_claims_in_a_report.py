"""A report shows the claims of a certificate."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from chains import replace
from evidence_factory import evidence_of, hostile_model

from protonn_edge.extensions.proof.certificate import panels as certificate
from protonn_edge.extensions.proof.certificate.claims import PROVEN, Claim
from protonn_edge.report.content import PageScript
from protonn_edge.report.page import render_page

SCRIPT = PageScript("console.log('</script>');")


class Reader(HTMLParser):
    """Keeps the elements of a page, its text and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        (self.scripts if self.lasttag == "script" and data.strip() else self.texts).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def trained(model):
    history = {"objective": [1.0, 0.5, 0.4], "accuracy": [0.5, 0.8, 0.9]}
    return replace(model, record={"history": history, "versions": {"numpy": "<9>"}, "seed": 3})


@pytest.fixture(scope="module")
def one():
    return evidence_of(trained(hostile_model()))


@pytest.fixture(scope="module")
def page(one):
    return render_page(one, SCRIPT, command="protonn-edge report <x>")


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
