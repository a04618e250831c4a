"""Render the C sources of a model from the templates."""

from __future__ import annotations

from dataclasses import asdict

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from protonn_edge.codegen.context import render_context
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.quantization import IntegerModel
from protonn_edge.resources import resource

SOURCES = ("pnn_model.h", "pnn_model.c")


def render_c(model: IntegerModel, plan: Plan | None = None) -> dict[str, str]:
    """Return the generated files by name: the same text for the same model, on every machine.

    Parameters
    ----------
    model : IntegerModel
        The model to render.
    plan : Plan, optional
        One of the model's plans; by default the fastest that fits an Arduino Uno.

    Returns
    -------
    dict of str to str
        ``pnn_model.h`` and ``pnn_model.c``.
    """
    environment = Environment(  # noqa: S701  (C, not HTML: the context escapes names for C)
        loader=FileSystemLoader(resource("templates") / "c", encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    context = asdict(render_context(model, plan or make_plan(model)))
    return {name: environment.get_template(f"{name}.j2").render(context) for name in SOURCES}
