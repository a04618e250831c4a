"""A certificate as one HTML file without external resources, for people."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from protonn_edge.certificate.claims import Certificate
from protonn_edge.system.files import resource


def certificate_page(certificate: Certificate) -> str:
    """Return the page of a certificate, the same text for the same certificate."""
    environment = Environment(
        loader=FileSystemLoader(resource("templates") / "html", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("certificate.html.j2").render(certificate=certificate)
