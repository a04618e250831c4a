"""Render the C sources of a model from the templates."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from jinja2 import Environment, StrictUndefined

from protonn_edge.codegen.context import render_context
from protonn_edge.codegen.float32 import Float32Plan, float32_context
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.prefix import PREFIX, PrefixedLoader, check_collisions, check_prefix
from protonn_edge.quantization import DeviceModel, Float32Model
from protonn_edge.system.resources import resource

_TEMPLATES = ("model.h", "model.c")
SOURCES = tuple(f"{PREFIX}_{name}" for name in _TEMPLATES)


def render_c(
    model: DeviceModel, plan: Plan | Float32Plan | None = None, prefix: str = PREFIX
) -> dict[str, str]:
    """Return the generated files by name: the same text for the same model, on every machine.

    Parameters
    ----------
    model : IntegerChain or Float32Model
        The model to render.
    plan : Plan, optional
        One of the model's plans; by default the fastest that fits an Arduino Uno.
    prefix : str, optional
        Prefix of the files and all public names; models with different prefixes can be linked into
        one program.

    Returns
    -------
    dict of str to str
        ``pnn_model.h`` and ``pnn_model.c``, or with the prefix instead of ``pnn``.

    Raises
    ------
    InputError
        If names cannot begin with the prefix, or the model has such names already.
    """
    check_prefix(prefix)
    if isinstance(model, Float32Model):
        folder, context = "float32/", asdict(float32_context(model))
    else:
        chosen = plan if isinstance(plan, Plan) else make_plan(model)
        folder, context = "", vars(render_context(model, chosen))

    def rendered(prefix: str) -> dict[str, str]:
        environment = template_environment("c", prefix)
        return {
            f"{prefix}_{name}": environment.get_template(f"{folder}{name}.j2").render(context)
            for name in _TEMPLATES
        }

    if prefix != PREFIX:
        check_collisions(prefix, rendered(PREFIX).values())
    return rendered(prefix)


@cache
def template_environment(folder: str, prefix: str = PREFIX) -> Environment:
    """Return the environment for templates of a folder of ``templates/``, each compiled once."""
    return Environment(  # noqa: S701  (C, not HTML: contexts escape names for C)
        loader=PrefixedLoader(resource("templates") / folder, prefix),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
