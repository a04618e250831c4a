"""What another extension may add to proofs."""

from __future__ import annotations

from typing import Any, ClassVar

from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.system.extensions import additions_to


class ProofAddition:
    """What an extension adds to "proof"."""

    # a function of firmware with the extension, and the template of calls for an analysis of the C
    function: ClassVar[str]
    calls: ClassVar[str]

    def voters_proof(self, stage: IntegerPrototypes, proof: Any) -> Any:
        """Return the `VotersProof` of what votes beside the prototypes of a stage."""
        raise NotImplementedError


def voters_proof(extension: str, stage: IntegerPrototypes, proof: Any) -> Any:
    """Return the proof of the voters of a stage, which an extension has."""
    return additions_to("proof", ProofAddition)[extension].voters_proof(stage, proof)
