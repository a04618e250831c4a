"""Points of a file for a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Float32, Indices, Table
from protonn_edge.data.points.values import Values


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelPoints(Table):
    """Points of a file for a model, with the right answers that are known."""

    # (n,): indices into the model's classes; `NO_CLASS` for other classes than the only one,
    # `NO_LABEL` for unknown ones
    y: Indices
    rows: Indices  # (n,): the row of each point in its file, from 0
    options: TableOptions = field(default_factory=TableOptions)  # with which it was read
    # right answers that are no classes: numbers (n,), or sets of labels (n, L); `y` is `NO_LABEL`
    values: Values | None = None
    groups: Indices | None = None  # (n,), if training held whole groups out

    @property
    def labelled(self) -> tuple[Float32, Indices]:
        """The points and their labels."""
        return self.X, self.y

    @property
    def trained_on(self) -> bool:
        """Whether the model was trained on all of these rows."""
        return any(notice.kind == "training_rows" for notice in self.notices)
