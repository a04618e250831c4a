"""The options of a command in its help: in groups, one row each."""

from __future__ import annotations

import click

from protonn_edge.system.extensions import extensions

GROUPS = {
    "Data and model": "output label labels rows drop missing classifier groups holdout "
    "holdout-rows seed",
    "Training": "target within budget projection-dim prototypes epochs start-from calibrate",
    "Limits": "board max-flash max-sram max-latency-ms max-energy-mj",
    "Features": "features image-shape window copies augment",
    "Search": "metric minutes trials timeout choose folds jobs search front",
}
"""Options, without their hyphens, by the title of their group."""

_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names.split()}

_LONG = 60  # characters of the values of an option
_METAVARS = ((click.IntRange, "N"), (click.FloatRange, "X"))


def row(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Return an option as a long list has it, and its help."""
    flags = ", ".join(sorted(option.opts, key=len))
    extra = option.get_help_extra(ctx)
    notes = [extra["required"]] if "required" in extra else []
    notes += [f"default: {extra['default']}"] if "default" in extra else []
    text = f"{option.help}  [{'; '.join(notes)}]" if notes else str(option.help)
    if option.is_flag:
        return " / ".join(filter(None, (flags, *option.secondary_opts))), text
    short = (name for kind, name in _METAVARS if isinstance(option.type, kind))
    metavar = next(short, option.make_metavar(ctx))
    if len(metavar) > _LONG:
        metavar = option.opts[0].removeprefix("--").upper()
    return f"{flags} {metavar}", text


def group_of(param: click.Parameter) -> str:
    """Return the title of an option's group, or an empty string."""
    titles = [_GROUP_OF, *(each.option_groups for each in extensions())]
    own: str = getattr(param, "group", "")
    return own or next((each[name] for each in titles for name in param.opts if name in each), "")
