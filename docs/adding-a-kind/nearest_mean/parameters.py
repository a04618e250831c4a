"""The example's parameters: those that all kinds share, and none of its own."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.learn.parameters import SharedParameters


@dataclass(kw_only=True, eq=False, repr=False)
class NearestMeanParameters(SharedParameters):
    """The parameters for training a nearest mean.

    A parameter of your own is a field, such as ``SPREAD = parameter(1.0, Number(float, 0.1, 10.0),
    help="...", option="--spread")``, from `protonn_edge.learn.parameters`.
    """
