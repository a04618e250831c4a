"""A model in the form of what other people's tools take: a library, or plain C."""

from __future__ import annotations

from protonn_edge.export.exporting import Export, export
from protonn_edge.export.folder import check_folder
from protonn_edge.export.rendering import KINDS, Imprint, Kind, library_name, render_export
from protonn_edge.export.self_test import KnownAnswers, vectors_from_data, vectors_from_model

__all__ = [
    "KINDS",
    "Export",
    "Imprint",
    "Kind",
    "KnownAnswers",
    "check_folder",
    "export",
    "library_name",
    "render_export",
    "vectors_from_data",
    "vectors_from_model",
]
