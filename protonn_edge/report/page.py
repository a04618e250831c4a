"""The report as one HTML file without external resources.

The template escapes everything from data; a policy in the page's head allows only its own script,
and no requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from protonn_edge import __version__
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.battery import Battery
from protonn_edge.report.front import Front
from protonn_edge.report.headline import (
    headlines_of,
    identity_of,
    proof_of,
    side_by_side,
    title_of,
)
from protonn_edge.report.making import front_section
from protonn_edge.report.payload import payload
from protonn_edge.report.script import PageScript
from protonn_edge.report.sections import sections_of
from protonn_edge.system.resources import resource


def render_page(
    evidence: Sequence[Evidence],
    script: PageScript,
    *,
    title: str = "",
    command: str = "",
    battery: Battery | None = None,
    front: Front | None = None,
) -> str:
    """Return the report, the same text for the same evidence.

    Parameters
    ----------
    evidence : sequence of Evidence
        At least one run; several are shown side by side.
    script : PageScript
        The script that runs the Uno in the page.
    title : str
        A heading; by default the classes and the board.
    command : str
        The command that made the report.
    battery : Battery, optional
        The battery for the battery life.
    front : Front, optional
        The result of a search.
    """
    first = evidence[0]
    environment = Environment(
        loader=FileSystemLoader(resource("templates") / "html", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A page may have several runs; its script uses the first.
    code = None if script.text is None else _inline(script.text)
    missing = script.missing if first.board.mcu == _PAGE_MCU else _OTHER_CHIP
    return environment.get_template("report.html.j2").render(
        title=title or title_of(first),
        script=code,
        script_hash="" if code is None else _hash(code),
        missing=missing,
        uno=code is not None and not missing,
        data=None if code is None else _json(payload(first, runs=not missing)),
        image=first.image_shape is not None and first.image_shape[0] > 1,
        first=first,
        n_runs=len(evidence),
        identity=identity_of(first),
        proofs=[proof_of(one, named=len(evidence) > 1) for one in evidence],
        headlines=headlines_of(first) if len(evidence) == 1 else (),
        side_by_side=side_by_side(evidence) if len(evidence) > 1 else None,
        sections=[
            *sections_of(evidence, battery or Battery()),
            *([] if front is None else [front_section(front)]),
        ],
        provenance=_provenance(evidence, command),
    )


_PAGE_MCU = "atmega328p"  # of web/uno.js
_SOCKET = re.compile(r"^(socket://.*):\d+$")
_LOCAL, _EMULATOR = "socket://127.0.0.1", "a socket of the same computer, as an emulated board has"
_OTHER_CHIP = "the page has an ATmega328P alone, and this firmware is for another chip"


def _provenance(evidence: Sequence[Evidence], command: str) -> list[tuple[str, str]]:
    """Return hashes, versions and the command, for reproducing the report."""
    facts = []
    for one in evidence:
        prefix = f"{one.name}, " if len(evidence) > 1 else ""
        record = one.model.record
        facts += [
            (f"{prefix}model SHA-256", one.origin.model_sha256),
            (f"{prefix}points SHA-256", one.origin.data_sha256),
            (f"{prefix}firmware SHA-256", one.firmware.sha256),
            (f"{prefix}sizes", _sizes(one)),
            (f"{prefix}measured on", _devices(one)),
        ]
        versions = record.get("versions")
        if isinstance(versions, dict):
            text = ", ".join(f"{name} {version}" for name, version in versions.items())
            facts.append((f"{prefix}trained with", text))
        if "seed" in record:
            facts.append((f"{prefix}seed", str(record["seed"])))
    facts.append(("report by", f"protonn-edge {__version__}"))
    return facts + ([("command", command)] if command else [])


def _devices(one: Evidence) -> str:
    """Return the ports, without the number of a socket, which differs in every run."""
    names = {_SOCKET.sub(r"\1", result.device) for result in one.results}
    names = {_EMULATOR if name == _LOCAL else name for name in names}
    return ", ".join(sorted(names - {""})) or "-"


def _sizes(one: Evidence) -> str:
    model = one.model
    sizes = "".join(f"{size.symbol} = {size.number:,}, " for size in model.sizes)
    return (
        f"D = {model.n_inputs:,}, {sizes}L = {model.n_classes:,}; "
        f"{one.reference.model_bytes:,} B of parameters"
    )


def _inline(script: str) -> Markup:
    """Return a script of the package in a form that can be embedded in a page."""
    # Nothing in it may end the element; in a string or a comment <\/script means the same.
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))  # noqa: S704


def _hash(script: str) -> str:
    """Return the script's source expression for a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _json(value: object) -> Markup:
    """Return JSON that can be embedded in a script element, with any names in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704
