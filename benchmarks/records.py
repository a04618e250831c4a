"""MNIST on this chip in one picture: accuracy against bytes, and against milliseconds.

The rows on MNIST are those in the tables of docs/image-features.md. The picture (`--draw docs`) has
what others published beside them; the page has the sources.
BitNetMCU's are of another chip, and so have bytes alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from columns import Record, figure, percent
from drawing import OTHERS, PROTONN, PROTONN_PAPER, panels
from runner import Benchmark, Case

_PAGE = Path(__file__).parents[1] / "docs" / "image-features.md"
_GRADIENTS, _CONVOLUTIONS = "gradients, prototypes", "convolutions, weighted sums"
_PEER, _PEER_FAMILY = "mnist-cnn-4bit", "the network of 2019, here"
_HEADINGS = {
    "accuracy": ("integers %", "test %"),
    "model_bytes": ("int8 B", "parameters B"),
    "ms": ("ms",),
}
"""The headings of columns in the tables, by figure."""
_COLOURS = {
    _GRADIENTS: PROTONN_PAPER,
    _CONVOLUTIONS: PROTONN,
    _PEER_FAMILY: OTHERS[2],
}
_ABOVE, _BELOW = 6, -11  # in points of print
# Name, accuracy, bytes of parameters, milliseconds on this chip, and where the name stands.
_PUBLISHED: tuple[tuple[str, float, float | None, float | None, int], ...] = (
    ("Gural and Murmann 2019", 0.9915, 1_512, 682.0, _BELOW),
    ("deep-microcompression", 0.9804, None, 2_288.0, _BELOW),
    ("BitNetMCU", 0.9892, 3_200, None, _BELOW),
    ("BitNetMCU", 0.9928, 7_300, None, _ABOVE),
    ("BitNetMCU", 0.9955, 11_000, None, _BELOW),
    ("BitNetMCU", 0.9958, 13_000, None, _ABOVE),
)


def read() -> list[dict[str, Any]]:
    """Return the rows on MNIST of the tables that have all figures."""
    return [
        {
            "name": name,
            "family": _family(name),
            "accuracy": figures["accuracy"] / 100,
            "model_bytes": int(figures["model_bytes"]),
            "ms": figures["ms"],
        }
        for name, figures in _rows(_PAGE.read_text("utf-8"))
        if name.startswith("mnist")
    ]


def _family(name: str) -> str:
    if name == _PEER:
        return _PEER_FAMILY
    return _GRADIENTS if "gradients" in name else _CONVOLUTIONS


def _rows(page: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name and the figures of each row of the tables that have them."""
    for table in re.findall(r"^(?:\|.*\n)+", page, re.MULTILINE):
        headings, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]]
                              for line in table.splitlines())  # fmt: skip
        places = [next((headings.index(each) for each in names if each in headings), -1)
                  for names in _HEADINGS.values()]  # fmt: skip
        for cells in rows if min(places) >= 0 else ():
            figures = (cells[place].split(" ")[0].replace(",", "") for place in places)
            yield (
                cells[0].split(",")[0].strip("`"),
                dict(zip(_HEADINGS, map(float, figures), strict=True)),
            )


def draw(records: list[Record], folder: Path) -> None:
    """Draw accuracy against bytes beside accuracy against milliseconds."""
    with panels(folder / "mnist-records.svg", 1, 2, (9, 3.6)) as axes:
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
            axis.margins(0.2, 0.12)
        axes[0][0].set_xlabel("bytes of parameters")
        axes[0][1].set_xlabel("ms a prediction")
        axes[0][0].set_ylabel("accuracy, %")
        axes[0][1].legend(loc="lower center", fontsize=8)


def _published(axis: Any, at: tuple[float, float], name: str, offset: int) -> None:
    axis.plot([at[0]], [at[1]], "o", color=OTHERS[0], fillstyle="none")
    style = {"ha": "center", "fontsize": 7, "color": OTHERS[0]}
    axis.annotate(name, at, (0, offset), textcoords="offset points", **style)


BENCHMARKS = {
    "records": Benchmark(
        "The rows on MNIST of the pages; drawn beside what others published.",
        [Case("mnist")],
        (
            *(figure("model", "name"), figure("what it is", "family")),
            *(figure("accuracy %", "accuracy", percent), figure("B", "model_bytes", ",")),
            figure("ms", "ms", ".1f"),
        ),
        lambda _case: iter(read()),
        draw,
    ),
}
