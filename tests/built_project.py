"""A project as `build` leaves it, without a compiler: the generated files and the model."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import Project, generated_files
from protonn_edge.model.file import save_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize


def write_project(
    model: Model,
    folder: Path,
    plan: DevicePlan | None = None,
    reference: IntegerChain | None = None,
) -> Project:
    """Write what is generated of a model; in integers, and for an Uno, if nothing else is given."""
    reference = reference or quantize(model)
    if plan is None:
        assert not reference.score_tolerance
        plan = make_plan(reference)
    generated = folder / "firmware" / "generated"
    generated.mkdir(parents=True)
    save_model(model, generated / "model.npz")
    for name, text in generated_files(reference, plan).items():
        (generated / name).write_text(text, encoding="utf-8", newline="\n")
    return Project(folder)
