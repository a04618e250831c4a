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
    from protonn_edge.codegen.export.exporting import TriedLibrary
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

    def report_parts(self) -> Sequence[SectionOfRun]:
        """Return the section with the claims about the measured firmware."""
        from protonn_edge.extensions.proof.certificate.panels import SECTION

        return (SECTION,)

    def library_files(self, library: TriedLibrary) -> Mapping[str, str]:
        """Return the section of the README with the claims about a library's files."""
        if library.board.proof:
            return {}
        from protonn_edge.extensions.proof.certificate.library import readme_section

        made = library.files, library.prefix, library.board, library.tried
        return {"README.md": readme_section(*made)}


EXTENSION = ProofExtension()
