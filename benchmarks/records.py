"""MNIST on this chip in one picture: accuracy against bytes, and against milliseconds.

    python benchmarks/records.py --stored FILE [--stored FILE ...] [--draw FILE.svg] [--json]

prints one row per model in the FILEs, which contain the output of `networks.py`, `inference.py` and
`accuracy.py` with --json. Rows of the same name are merged, and figures of later files take
precedence. The picture has what others published beside them; docs/convolution.md and
docs/gradients.md have the sources. BitNetMCU's are of another chip, and so have bytes alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from printing import Columns, print_table
from reproduction.drawing import OTHERS, PROTONN, PROTONN_PAPER, panels

_CYCLES_A_MS = 16_000
_FAMILIES = {
    "mnist10": "averages, prototypes",
    "mnist10-gradients": "gradients, prototypes",
    "mnist10-gradients-2kB": "gradients, prototypes",
    "mnist10-gradients-5kB": "gradients, prototypes",
    "mnist10-gradients-fast": "gradients, prototypes",
    "mnist10-2kB-prototypes": "convolutions, prototypes",
    "mnist10-2kB": "convolutions, weighted sums",
    "mnist10-12kB": "convolutions, weighted sums",
    "mnist10-12kB-fast": "convolutions, weighted sums",
    "mnist-cnn-4bit": "the network of 2019, here",
}
_COLOURS = {
    "averages, prototypes": OTHERS[1],
    "gradients, prototypes": PROTONN_PAPER,
    "convolutions, prototypes": OTHERS[4],
    "convolutions, weighted sums": PROTONN,
    "the network of 2019, here": OTHERS[2],
}
_ABOVE, _BELOW = 6, -11  # in points of print
# Name, accuracy, bytes of parameters, milliseconds on this chip, and where the name stands.
_PUBLISHED: tuple[tuple[str, float, float | None, float | None, int], ...] = (
    ("Gural and Murmann 2019", 0.9915, 1_512, 682.0, _BELOW),
    ("deep-microcompression", 0.9804, None, 2_288.0, _BELOW),
    ("BitNetMCU", 0.9892, 3_200, None, _BELOW),
    ("BitNetMCU", 0.9928, 7_300, None, _ABOVE),
    ("BitNetMCU", 0.9955, 11_000, None, _ABOVE),
)
COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("what it is", lambda r: r["family"]),
    ("accuracy %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("B", lambda r: f"{r['model_bytes']:,}"),
    ("ms", lambda r: f"{r['ms']:.1f}"),
]


def read(paths: tuple[Path, ...]) -> list[dict[str, Any]]:
    """Return the rows of models on MNIST, those of the same name as one."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            if record.get("name") in _FAMILIES:
                found.setdefault(record["name"], {}).update(record)
    return [
        {
            "name": name,
            "family": family,
            "accuracy": found[name]["accuracy"],
            "model_bytes": found[name]["model_bytes"],
            "ms": found[name]["cycles"]["mean"] / _CYCLES_A_MS,
        }
        for name, family in _FAMILIES.items()
        if name in found
    ]


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw accuracy against bytes beside accuracy against milliseconds."""
    with panels(path, 1, 2, (9, 3.6)) as axes:
        for axis, key, place, ticks in (
            (axes[0][0], "model_bytes", 2, (2_000, 5_000, 10_000, 20_000)),
            (axes[0][1], "ms", 3, (3, 10, 30, 100, 300, 1_000)),
        ):
            for family, colour in _COLOURS.items():
                own = [record for record in records if record["family"] == family]
                own.sort(key=lambda record: float(record[key]))
                if own:
                    x, y = ([float(each[what]) for each in own] for what in (key, "accuracy"))
                    axis.plot(x, [100 * share for share in y], "o-", color=colour, label=family)
            for each in _PUBLISHED:
                if each[place] is not None:
                    _published(axis, (float(each[place] or 0), 100 * each[1]), each[0], each[4])
            axis.set_xscale("log")
            axis.minorticks_off()
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axis.margins(0.15, 0.12)
        axes[0][0].set_xlabel("bytes of parameters")
        axes[0][1].set_xlabel("ms a prediction")
        axes[0][0].set_ylabel("accuracy, %")
        axes[0][1].legend(loc="lower center", fontsize=8)


def _published(axis: Any, at: tuple[float, float], name: str, offset: int) -> None:
    axis.plot([at[0]], [at[1]], "o", color=OTHERS[0], fillstyle="none")
    style = {"ha": "center", "fontsize": 7, "color": OTHERS[0]}
    axis.annotate(name, at, (0, offset), textcoords="offset points", **style)


@click.command()
@click.option(
    "--stored",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    required=True,
    help="Rows of the other benchmarks.",
)
@click.option("--draw", "picture", type=click.Path(path_type=Path), help="An SVG file.")
@click.option("--only", type=click.Choice(list(_FAMILIES)), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(stored: tuple[Path, ...], picture: Path | None, only: str | None, as_json: bool) -> None:
    """Print and draw what is known of MNIST on this chip."""
    records = [each for each in read(stored) if only in (None, each["name"])]
    if picture is not None:
        draw(records, picture)
    print_table(iter(records), COLUMNS, as_json)


if __name__ == "__main__":
    main()
