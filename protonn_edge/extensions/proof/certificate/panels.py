"""The claims of a certificate about the measured firmware."""

from __future__ import annotations

from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.verification.agreement import Agreement
from protonn_edge.extensions.proof.certificate.claims import Settings
from protonn_edge.extensions.proof.certificate.project import (
    agreed,
    arithmetic_claims,
    cycles_measured,
    firmware_claims,
)
from protonn_edge.report.content import PageTable, Panel, SectionOfRun
from protonn_edge.report.evidence import Evidence


def _panels(one: Evidence) -> list[Panel]:
    """Return the claims about the firmware; the first panel's claims follow from its code."""
    program, plan = one.firmware.linked, one.firmware.plan
    if program is None or not isinstance(plan, Plan):
        return []
    claims = [*arithmetic_claims(one.reference), *firmware_claims(program, plan, one.board)]
    compared = [each.mismatch for each in one.results if each.mismatch is not None]
    if compared and not any(compared):
        on_board = Agreement("the board", len(compared), 0, 0, None)
        claims.append(agreed("firmware", on_board, "the run, over the serial line"))
    if one.on_host is not None and not one.on_host.mismatches:
        claims.append(agreed("host-c", one.on_host, "the generated C, run on this computer"))
    claims += cycles_measured(one.answered, "the board's timer")
    rows = tuple((each.statement, each.standing, each.by) for each in claims)
    table = PageTable("Claims", ("claim", "status", "by"), rows, texts=frozenset({1, 2}))
    command = Settings(one.board.name).command.replace("PATH", "PROJECT")
    return [Panel(listing=("To certify the project", command), table=table)]


SECTION = SectionOfRun(
    "certificate",
    "Certificate",
    "Proven claims hold for every input; measured claims held on the points given.",
    _panels,
)
