"""The option of `train` for the class of the normal points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.train_additions import TrainAddition

_NORMAL = option("With --one-class: the class of normal points.", metavar="LABEL")


@dataclass(frozen=True)
class NormalOptions(TrainAddition):
    """The normal class."""

    APART: ClassVar[Mapping[str, str]] = {"--normal": "--classifier=best"}

    normal: str | None = _NORMAL

    def completed(self, target: Any) -> Any:
        """Return a target of training with the normal class, if it is given."""
        if self.normal is None:
            return target
        if target.least_classes > 1:
            raise click.UsageError("--normal names the class that --one-class learns; give both")
        return type(target)(self.normal)
