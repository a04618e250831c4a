"""Export a model for other tools, as a library or plain C."""

from __future__ import annotations

from protonn_edge.export.exporting import Export, export
from protonn_edge.export.folder import check_folder
from protonn_edge.export.rendering import Imprint, Kind

__all__ = ["Export", "Imprint", "Kind", "check_folder", "export"]
