"""A stage as the templates of its C see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels.kernel import Kernel
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.layer import LayerStage


class PublicName(str):
    """Text with the prefix of the templates, in whose place the renderer writes a program's own."""


@dataclass(frozen=True, eq=False)
class StageInTemplate:
    """A stage: its name in C, and its kernel."""

    n: str
    k: Kernel

    static: ClassVar[str] = "static "
    """What the declaration of a variable begins with."""

    def variable(self, name: str = "") -> str:
        """Return the name of a variable that the template declares."""
        return f"{self.n}_{name}" if name else self.n

    @property
    def N(self) -> PublicName:  # noqa: N802  (n in capitals)
        """The name of its macros."""
        return PublicName(f"PNN_{self.n.upper()}")

    @property
    def title(self) -> str:
        """Its name in comments."""
        return self.n.replace("_", " ").capitalize()

    @property
    def stage(self) -> IntegerStage:
        """Its arithmetic."""
        return self.k.stage

    @property
    def score_t(self) -> str:
        """The type of its scores in C."""
        return f"int{self.stage.output.bits}_t"

    @property
    def template(self) -> str:
        """Its template for AVRs, which also describes it."""
        return f"{self.stage.kind}/{self.stage.kind}.j2"

    @property
    def floats(self) -> str:
        """Its template for raw floats, if it tests them as they are."""
        return f"{self.stage.kind}/floats.j2"

    @property
    def code(self) -> str:
        """Its template for chips of 32 bits."""
        folder = "layer" if isinstance(self.stage, LayerStage) else self.stage.kind
        return f"{folder}/words.j2"
