"""Groups of options in the help of commands that have many, which leaves ranges to errors."""

from __future__ import annotations

import click

_GROUPS = {
    "Data and model": "output classifier groups holdout label drop delimiter seed",
    "Training": "budget projection-dim prototypes epochs normalization class-weight start-from",
    "Limits": "board max-flash max-sram max-latency-ms max-energy-mj precision",
    "Features": "features image-shape window sample-rate augment",
    "Inputs of no class": "rejection rejection-by one-class normal",
    "Search": "trials timeout choose folds jobs dask in-flight search front",
}
"""Options, without their hyphens, by the title of their group."""

_GROUP_OF = {f"--{name}": title for title, names in _GROUPS.items() for name in names.split()}
_FEW = 20  # options in one list
_LONG = 60  # characters of the values of an option
_METAVARS = ((click.IntRange, "N"), (click.FloatRange, "X"))


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write a command's options: one list, or one for each group if there are many."""
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    shown = [(each, record) for each in options if (record := each.get_help_record(ctx))]
    if len(shown) <= _FEW:
        with formatter.section("Options"):
            formatter.write_dl([record for _, record in shown])
        return
    grouped: dict[str, list[tuple[str, str]]] = {}
    for option, _ in shown:
        grouped.setdefault(group_of(option), []).append(row(option, ctx))
    for title in (*_GROUPS, ""):
        if title in grouped:
            with formatter.section(title or "Other options"):
                formatter.write_dl(grouped[title])


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
    return next((_GROUP_OF[name] for name in param.opts if name in _GROUP_OF), "")
