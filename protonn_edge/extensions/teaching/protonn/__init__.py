"""ProtoNN's part of teaching: taught examples vote beside its prototypes.

The rest of teaching, which does not depend on the kind of classifier, is `protonn_edge.extensions.teaching`.
"""

BRINGS = {
    "options": "parameters:GROUPS",
    "protonn.kernels": "loop:TaughtVoting",
    "protonn.notices": "train.checks:notices",
    "protonn.proof": "proof.program:TaughtProof",
    "protonn.parameters": "parameters:TeachingParameters",
    "protonn.refusals": "train.checks:REFUSALS",
    "protonn.training": "train.episodes:TeachableTraining",
    "protonn.voters": "model:Teachable",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
