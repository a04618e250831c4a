"""Gaussian naive Bayes: each score is a sum of weighted squared distances from class means."""

from __future__ import annotations

from protonn_edge.chain.entries import Kind

LOOP = "loop"

KINDS = (Kind("naive-bayes", "NaiveBayes", 6, plans=(LOOP,)),)
STAGES = {"naive_bayes": ""}
