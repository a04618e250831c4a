"""Proofs and certificates: what holds of a linked program, with its evidence.

One symbolic execution of the machine code (`exploration`, `machine`) gives every byte as a part of
a sum of tables (`forms`). These are compared with the model's own sums (`equality`), which modules
in `stages` state. See `docs/certificate.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension

if TYPE_CHECKING:
    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.verification.tryout import Tried
    from protonn_edge.report.content import SectionOfRun


class ProofExtension(Extension):
    """Claims about builds, and their evidence."""

    name: ClassVar[str] = "proof"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the options of `verify` for builds."""
        if command != "verify":
            return None
        from protonn_edge.extensions.proof.commands.certify import CertificateOptions

        return CertificateOptions

    def report_sections(self) -> Sequence[SectionOfRun]:
        """Return the section with the claims about the measured firmware."""
        from protonn_edge.extensions.proof.certificate.panels import SECTION

        return (SECTION,)

    def library_readme(
        self, files: Mapping[str, str], prefix: str, board: Board, tried: Tried
    ) -> str:
        """Return the claims about a library's files."""
        from protonn_edge.extensions.proof.certificate.library import readme_section

        return readme_section(files, prefix, board, tried)


EXTENSION = ProofExtension()
