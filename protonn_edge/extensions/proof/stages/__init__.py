"""Stages of which formulas do not give sums of tables, and rules; to import this registers them.

A stage of another extension is registered by the module `proof` of its own folder.
"""

from protonn_edge.extensions.proof.stages import forest as forest
from protonn_edge.extensions.proof.stages import prototypes as prototypes
from protonn_edge.extensions.proof.stages import rejection as rejection
from protonn_edge.model.registry import modules_named

tuple(modules_named("proof"))
