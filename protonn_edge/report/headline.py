"""The top of a report: the model, data and board, the comparison, and the main figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from protonn_edge.evaluation.accuracy import wilson_interval
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.evaluation.library_check import LibraryWay
from protonn_edge.quantization import IntegerChain
from protonn_edge.report.content import Table

_CLASSES_NAMED = 40
_BETTER: dict[str, Callable[[Iterable[float]], float]] = {
    "accuracy": max,
    **dict.fromkeys(("latency, mean", "latency, most", "bound", "energy, mean"), min),
    **dict.fromkeys(("flash", "SRAM with stack"), min),
}


@dataclass(frozen=True)
class Headline:
    """A figure in large type: its name, number, unit, and a note."""

    name: str
    number: str
    unit: str
    note: str


@dataclass(frozen=True)
class Proof:
    """The comparison of all executions of the model, as a sentence."""

    holds: bool
    words: str


def title_of(one: Evidence) -> str:
    """Return the number of classes, and the board."""
    board = one.board.title.removeprefix("Arduino ")
    article = "an" if board[0] in "AEIOU" else "a"
    return f"{one.reference.n_classes} classes on {article} {board}"


def identity_of(one: Evidence) -> list[tuple[str, str]]:
    """Return the classes, the data, the model and the board of a run."""
    classes, board, model = one.reference.classes, one.board, one.model
    named = ", ".join(classes[:_CLASSES_NAMED])
    if len(classes) > _CLASSES_NAMED:
        named += f" and {len(classes) - _CLASSES_NAMED:,} more"
    points = f"{len(one.results):,} test points"
    sizes = "".join(f", {size.symbol} = {size.number:,}" for size in model.sizes)
    return [
        ("classes", named),
        ("data", f"{one.data_name}, {points}" if one.data_name else points),
        ("model", f"{model.title}, D = {model.n_inputs:,}{sizes}"),
        ("board", f"{board.title}, {board.clock_hz / 1e6:g} MHz"),
    ]


def proof_of(one: Evidence, *, named: bool) -> Proof | None:
    """Return the comparison of the executions, or None if there was none.

    Parameters
    ----------
    one : Evidence
        The run.
    named : bool
        Whether the sentence names the results file.
    """
    compared = [result.mismatch for result in one.results if result.mismatch is not None]
    if not compared:
        return None
    board = one.board.title.removeprefix("Arduino ")
    executions, wrong = ["NumPy", board], sum(compared)
    if one.on_host is not None:
        executions[1:1] = ["C"]
        wrong += one.on_host.mismatches
    prefix = f"{one.name}: " if named else ""
    tolerance = one.reference.score_tolerance
    what = "class and scores" if tolerance == 0 else "class, and scores but for rounding"
    told = f"{len(compared):,} points, {wrong:,} mismatches in {what}"
    if wrong:
        return Proof(False, f"{prefix}the executions disagree ({', '.join(executions)}): {told}.")
    return Proof(True, f"{prefix}{' = '.join(executions)}: {told}.")


def headlines_of(one: Evidence) -> tuple[Headline, ...]:
    """Return the main figures of a run."""
    summary, usage, board = one.summary, one.firmware.usage, one.board
    low, high = wilson_interval(sum(r.predicted == r.label for r in one.results), summary.n)
    interval = f"{100 * low:.1f} to {100 * high:.1f} at 95 % confidence"
    sram = usage.sram_bytes + usage.stack_bytes
    found = [
        Headline("accuracy", f"{100 * summary.accuracy:.2f}", "%", interval),
        Headline("flash", f"{usage.flash_bytes / 1000:.1f}", "kB", _of(board.flash_bytes)),
        Headline("SRAM", f"{sram:,}", "B", _of(board.sram_bytes) + ", with the stack"),
    ]
    if summary.latency_ms is not None and summary.energy_mj is not None:
        worst = one.worst_cycles
        bound = f"bound {board.milliseconds(worst):.3f}" if worst is not None else "a prediction"
        mean, energy = summary.latency_ms.mean, summary.energy_mj.mean
        found[1:1] = [
            Headline("latency", f"{mean:.3f}", "ms", bound),
            Headline("energy", f"{energy:.4f}", "mJ", f"at {board.power_watts} W"),
        ]
    if one.points is not None:
        check = LibraryWay(one.reference, one.points.raw, one.points.labels).check()
        if check.differing:
            what = f"{len(check.differing):,} of {check.n:,} points have another class"
            accuracy = f"{100 * check.library_accuracy:.2f}"
            found.insert(1, Headline("through pnn_quantize", accuracy, "%", what))
    return tuple(found)


def _of(limit: int) -> str:
    return f"of {limit:,} B"


def side_by_side(evidence: Sequence[Evidence]) -> Table:
    """Return the main figures with a column per run."""
    columns = [_figures(one) for one in evidence]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = tuple((name, *(column.get(name, "-") for column in columns)) for name in names)
    best = frozenset(
        (place, column)
        for place, (name, *texts) in enumerate(rows)
        if name in _BETTER
        for column in _best(texts, _BETTER[name])
    )
    return Table(("", *(one.name for one in evidence)), rows, best=best)


def _best(texts: Sequence[str], better: Callable[[Iterable[float]], float]) -> list[int]:
    """Return the columns, counted from 1, of the best number; none if all are equal."""
    numbers = {
        place: float(text.split()[0].replace(",", ""))
        for place, text in enumerate(texts, 1)
        if text != "-"
    }
    if len(set(numbers.values())) < 2:
        return []
    best = better(numbers.values())
    return [place for place, number in numbers.items() if number == best]


def _figures(one: Evidence) -> dict[str, str]:
    summary, usage = one.summary, one.firmware.usage
    low, high = wilson_interval(sum(r.predicted == r.label for r in one.results), summary.n)
    latency, energy, worst = summary.latency_ms, summary.energy_mj, one.worst_cycles
    return {
        "computed in": "integers" if isinstance(one.reference, IntegerChain) else "floats",
        "points": f"{summary.n:,}",
        "accuracy": f"{100 * summary.accuracy:.2f} %",
        "95 % confidence": f"{100 * low:.1f} to {100 * high:.1f} %",
        **_rejected(one),
        "latency, mean": "-" if latency is None else f"{latency.mean:.3f} ms",
        "latency, most": "-" if latency is None else f"{latency.max:.3f} ms",
        "bound": "-" if worst is None else f"{one.board.milliseconds(worst):.3f} ms",
        "energy, mean": "-" if energy is None else f"{energy.mean:.4f} mJ",
        "flash": f"{usage.flash_bytes:,} B",
        "SRAM with stack": f"{usage.sram_bytes + usage.stack_bytes:,} B",
    }


def _rejected(one: Evidence) -> dict[str, str]:
    """Return the number of unknown points, if a run's model rejects some."""
    if one.reference.rejection is None:
        return {}
    return {"unknown": f"{100 * one.summary.unknown / one.summary.n:.2f} %"}
