"""Classifiers based on similarities to basis images."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("basis-images", "BasisImages", 7, training="train.classifier", has_models=False),)
