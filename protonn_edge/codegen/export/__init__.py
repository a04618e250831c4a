"""Export a model for other tools, as a library or plain C."""

from __future__ import annotations

from protonn_edge.codegen.export.archive import is_archive
from protonn_edge.codegen.export.exporting import Export, check_place, export
from protonn_edge.codegen.export.rendering import Imprint, Kind

__all__ = ["Export", "Imprint", "Kind", "check_place", "export", "is_archive"]
