"""The kernels of the projection: those of its product, whose sums become bytes in registers."""

from __future__ import annotations

from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel

kernels = MatvecKernel.of
