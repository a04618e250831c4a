"""Read labelled data: .npz, libsvm text, .csv and .tsv tables, folders of the reference layout."""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
