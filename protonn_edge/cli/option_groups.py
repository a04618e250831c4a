"""Groups of options in the help of commands that have many."""

from __future__ import annotations

import click

_GROUPS = {
    "Data": "output groups holdout label drop delimiter seed",
    "Model": "classifier start-from normalization dead-zone clip class-weight",
    "Size": "projection-dim prototypes budget size-budget lambda-w lambda-b lambda-z "
    "projection-bits",
    "Limits": "board max-flash max-sram max-latency-ms max-energy-mj precision",
    "Search": "trials timeout choose folds jobs dask in-flight search front",
    "Images": "image-shape crop deskew average-pooling gradients directions augment moved-share",
    "Layers of convolutions": "convolutions convolution-bits activation-bits network-epochs "
    "network-moved-share network-still-epochs",
    "Windows of samples": "features window sample-rate onset",
    "Other people, days and sensors": "group-shift",
    "Inputs of no class": "rejection rejection-by outlier-exposure one-class normal",
    "Training of ProtoNN": "optimizer loss epochs batch-size learning-rate noise "
    "quantization-aware init-projection init-prototypes gamma gamma-numerator trained iterations "
    "pass-epochs step-sizes",
    "--classifier linear": "regularization solver max-iterations tolerance",
    "--classifier dense": "hidden",
    "--classifier forest": "ensemble trees max-depth min-leaf shrinkage leaves",
    "--classifier bonsai, local-deep-kernel": "depth lambda-weights lambda-gates lambda-branches",
    "--classifier basis-images": "basis-images image-parts teacher teacher-epochs similarity",
}
"""Options, without their hyphens, by the title of their group."""

_GROUP_OF = {f"--{name}": title for title, names in _GROUPS.items() for name in names.split()}
_FEW = 20  # options in one list


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write a command's options: one list, or one for each group if there are many."""
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    shown = [(each, record) for each in options if (record := each.get_help_record(ctx))]
    many = len(shown) > _FEW
    grouped: dict[str, list[tuple[str, str]]] = {}
    for option, record in shown:
        grouped.setdefault(group_of(option) if many else "", []).append(record)
    for title in (*_GROUPS, ""):
        if title in grouped:
            with formatter.section(title or ("Other options" if many else "Options")):
                formatter.write_dl(grouped[title])


def group_of(param: click.Parameter) -> str:
    """Return the title of an option's group, or an empty string."""
    return next((_GROUP_OF[name] for name in param.opts if name in _GROUP_OF), "")
