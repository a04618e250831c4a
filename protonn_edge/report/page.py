"""The report as one HTML file that needs nothing else and asks for nothing.

All that comes from data is escaped by the template; a policy in the page's head lets no script run
but its own, and no request out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from protonn_edge import __version__
from protonn_edge.evaluation.accuracy import wilson_interval
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.evaluation.library_check import LibraryWay
from protonn_edge.quantization import IntegerChain
from protonn_edge.report.battery import Battery
from protonn_edge.report.content import Table
from protonn_edge.report.front import Front
from protonn_edge.report.script import PageScript
from protonn_edge.report.sections import front_section, sections_of
from protonn_edge.report.uno import payload
from protonn_edge.system.resources import resource


@dataclass(frozen=True)
class Headline:
    """A figure in large type: what it is, its number, its unit, and a word on it."""

    name: str
    number: str
    unit: str
    note: str


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
        At least one; several are shown side by side.
    script : PageScript
        What makes the Uno run in the page.
    title : str
        A heading; by default the classes and the board.
    command : str
        How the report was asked for.
    battery : Battery, optional
        What the battery life is for.
    front : Front, optional
        What a search found.
    """
    first = evidence[0]
    if first.board.mcu != _PAGE_MCU:
        script = PageScript(None, _OTHER_CHIP)
    environment = Environment(
        loader=FileSystemLoader(resource("templates") / "html", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    code = None if script.text is None else _inline(script.text)
    return environment.get_template("report.html.j2").render(
        title=title or _title(first),
        script=code,
        script_hash="" if code is None else _hash(code),
        missing=script.missing,
        uno=None if script.text is None else _json(payload(first)),
        image=first.image_shape is not None and first.image_shape[0] > 1,
        first=first,
        n_runs=len(evidence),
        headlines=_headlines(first) if len(evidence) == 1 else (),
        side_by_side=_side_by_side(evidence) if len(evidence) > 1 else None,
        sections=[
            *sections_of(evidence, battery or Battery()),
            *([] if front is None else [front_section(front)]),
        ],
        provenance=_provenance(evidence, command),
    )


_PAGE_MCU = "atmega328p"  # of web/uno.js
_OTHER_CHIP = "the page has an ATmega328P alone, and this firmware is for another chip"


def _title(one: Evidence) -> str:
    board = one.board.title.removeprefix("Arduino ")
    article = "an" if board[0] in "AEIOU" else "a"
    return f"{one.reference.n_classes} classes on {article} {board}"


def _headlines(one: Evidence) -> tuple[Headline, ...]:
    summary, usage, board = one.summary, one.firmware.usage, one.board
    low, high = wilson_interval(sum(r.predicted == r.label for r in one.results), summary.n)
    interval = f"{100 * low:.1f} to {100 * high:.1f} at 95 % confidence"
    sram = usage.sram_bytes + usage.stack_bytes
    found = [
        Headline("accuracy", f"{100 * summary.accuracy:.2f}", "%", interval),
        Headline("flash", f"{usage.flash_bytes / 1000:.1f}", "kB", _of(board.flash_bytes)),
        Headline("SRAM", f"{sram:,}", "B", _of(board.sram_bytes) + ", with the stack"),
    ]
    if summary.latency_ms is not None and summary.energy_mj is not None:
        worst = one.worst_cycles
        bound = f"bound {board.milliseconds(worst):.3f}" if worst is not None else "a prediction"
        mean, energy = summary.latency_ms.mean, summary.energy_mj.mean
        found[1:1] = [
            Headline("latency", f"{mean:.3f}", "ms", bound),
            Headline("energy", f"{energy:.4f}", "mJ", f"at {board.power_watts} W"),
        ]
    if one.points is not None:
        check = LibraryWay(one.reference, one.points.raw, one.points.labels).check()
        if check.differing:
            what = f"{len(check.differing):,} of {check.n:,} points have another class"
            accuracy = f"{100 * check.library_accuracy:.2f}"
            found.insert(1, Headline("through pnn_quantize", accuracy, "%", what))
    return tuple(found)


def _of(limit: int) -> str:
    return f"of {limit:,} B"


def _side_by_side(evidence: Sequence[Evidence]) -> Table:
    """Return the main figures with a column per run."""
    columns = [_figures(one) for one in evidence]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = tuple((name, *(column.get(name, "-") for column in columns)) for name in names)
    return Table(("", *(one.name for one in evidence)), rows)


def _figures(one: Evidence) -> dict[str, str]:
    summary, usage = one.summary, one.firmware.usage
    low, high = wilson_interval(sum(r.predicted == r.label for r in one.results), summary.n)
    latency, energy, worst = summary.latency_ms, summary.energy_mj, one.worst_cycles
    return {
        "computed in": "integers" if isinstance(one.reference, IntegerChain) else "floats",
        "points": f"{summary.n:,}",
        "accuracy": f"{100 * summary.accuracy:.2f} %",
        "95 % confidence": f"{100 * low:.1f} to {100 * high:.1f} %",
        **_rejected(one),
        "latency, mean": "-" if latency is None else f"{latency.mean:.3f} ms",
        "latency, most": "-" if latency is None else f"{latency.max:.3f} ms",
        "bound": "-" if worst is None else f"{one.board.milliseconds(worst):.3f} ms",
        "energy, mean": "-" if energy is None else f"{energy.mean:.4f} mJ",
        "flash": f"{usage.flash_bytes:,} B",
        "SRAM with stack": f"{usage.sram_bytes + usage.stack_bytes:,} B",
    }


def _rejected(one: Evidence) -> dict[str, str]:
    """Return how many points are unknown, where a run's model rejects some."""
    if one.reference.rejection is None:
        return {}
    return {"unknown": f"{100 * one.summary.unknown / one.summary.n:.2f} %"}


def _provenance(evidence: Sequence[Evidence], command: str) -> list[tuple[str, str]]:
    """Return hashes, versions and the command: what it takes to make the same report again."""
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
    """Return the ports; the number of a socket is another one with every run and tells nothing."""
    names = {re.sub(r"^(socket://.*):\d+$", r"\1", result.device) for result in one.results}
    return ", ".join(sorted(names - {""})) or "-"


def _sizes(one: Evidence) -> str:
    model = one.model
    sizes = "".join(f"{size.symbol} = {size.number:,}, " for size in model.sizes)
    return (
        f"D = {model.n_inputs:,}, {sizes}L = {model.n_classes:,}; "
        f"{one.reference.model_bytes:,} B of parameters"
    )


def _inline(script: str) -> Markup:
    """Return a script that can stand in a page; it is the package's own."""
    # Nothing in it may end the element; in a string or a comment <\/script means the same.
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))  # noqa: S704


def _hash(script: str) -> str:
    """Return the script's source expression for a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _json(value: object) -> Markup:
    """Return JSON that can stand in a script element, whatever names are in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704
