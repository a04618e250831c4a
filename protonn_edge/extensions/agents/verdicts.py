"""What an agent reads of a command: the verdict and a few figures, not the whole JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from protonn_edge.system.errors import shortened
from protonn_edge.system.schema import JsonObject

MOST_CHARACTERS = 600
"""The longest answer of a tool."""

_MOST_OF_TEXT = 300
_SHORT = 80
_CUT = {"cut": True}  # that something was left out


def verdict(record: JsonObject, more: Mapping[str, object]) -> str:
    """Return the outcome of a command and the entries of `more` that fit, as compact JSON.

    Numbers have four digits, and entries that are None are left out. Room is for the error, short
    entries, warnings and long entries, in this order; of long ones, as much is kept as fits.
    """
    warnings = [each["text"] for each in record.get("notices", ()) if each["warning"]]
    given = {"error": record.get("error"), "warnings": warnings or None, **more}
    given["names"] = given.pop("names", None)  # they may be many
    entries = [(name, _plain(value)) for name, value in given.items() if value is not None]
    entries.sort(key=lambda entry: (entry[0] != "error", _length_class(*entry)))
    kept: JsonObject = {"ok": record.get("ok") is True}
    is_cut = False
    for name, value in entries:
        for part in _shorter(value):
            if len(_text({**kept, name: part, **_CUT})) <= MOST_CHARACTERS:
                kept[name] = part
                break
            is_cut = True
    first = {name: kept.pop(name) for name in ("ok", "error", "warnings") if name in kept}
    return _text(first | kept | (_CUT if is_cut else {}))


def _length_class(name: str, value: object) -> int:
    """Return 0 for short entries, 1 for warnings, and 2 for the others."""
    return 1 if name == "warnings" else 2 * (len(_text(value)) > _SHORT)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _plain(value: object) -> object:
    """Return a value with rounded numbers and short texts."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, str):
        return shortened(value, _MOST_OF_TEXT)
    if isinstance(value, Mapping):
        return {_plain(name): _plain(each) for name, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value


def _shorter(value: object) -> Iterator[object]:
    """Yield a value, and shorter ones of it."""
    yield value
    if isinstance(value, str):
        yield from (shortened(value, _MOST_OF_TEXT // n) for n in (2, 4))
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield from ([shortened(each, _MOST_OF_TEXT // n) for each in value] for n in (2, 4))
    if isinstance(value, list | dict):
        most = min(len(value) - 1, MOST_CHARACTERS // 2)  # with a comma, each has two characters
        first = [*(value if isinstance(value, list) else value.items())][:most]
        yield from (type(value)(first[:n]) for n in range(most, 0, -1))


def of_data(record: JsonObject) -> JsonObject:
    """Return what a table has, and how it is read."""
    rules = (record.get("table") or {}).get("rules", {})
    columns = record.get("columns", ())
    classes = {each["name"]: each["train"] + each["test"] for each in record.get("classes", ())}
    return {
        "points": record.get("n_train", 0) + record.get("n_test", 0) or None,
        "features": record.get("n_features"),
        "label": rules.get("label"),
        "classes": classes or None,
        "not_features": {each["name"]: each["role"] for each in columns if _is_other(each)} or None,
        "gaps": sum(each["missing"] + each["unreadable"] for each in columns) or None,
        "names": [each["name"] for each in columns if each["role"] == "feature"] or None,
    }


def _is_other(column: JsonObject) -> bool:
    return column["role"] not in ("feature", "label")


def of_training(record: JsonObject) -> JsonObject:
    """Return how good a model is on points that it has not seen."""
    quality = record.get("quality") or {}
    recalls = [(each["recall"], each["class"]) for each in quality.get("per_class", ())]
    weakest = min([each for each in recalls if each[0] is not None], default=None)
    return {
        **_accuracy(record),
        "baseline": quality.get("baseline"),
        "too_few": record.get("too_few") or None,
        "weakest": weakest and {"class": weakest[1], "recall": weakest[0]},
        "model_bytes": record.get("model_bytes"),
        "test_points": record.get("test"),  # of numbers and sets of labels
    }


def of_windows(record: JsonObject) -> JsonObject:
    """Return how many windows a recording has, of which classes."""
    return {
        "windows": record.get("n_train", 0) + record.get("n_test", 0) or None,
        "test": record.get("n_test"),
        "channels": record.get("channel_names"),
        "groups": record.get("groups"),
        "rate": record.get("sample_rate"),
        "classes": record.get("n_of_class"),
    }


def of_predictions(record: JsonObject) -> JsonObject:
    """Return how often each class is answered, and the accuracy if there are labels.

    Of a recording, these are its events, the missed ones and the false alarms.
    """
    return {
        **_accuracy(record),
        **{name: record.get(name) for name in ("events", "missed", "false_alarms", "hours")},
        "answers": record.get("classes"),
        "clamped_inputs": record.get("saturations"),
    }


def of_build(record: JsonObject) -> JsonObject:
    """Return whether firmware fits, and answers as NumPy does."""
    limits, flash = record.get("limits"), record.get("flash_bytes")
    if not limits:
        return {"fits": record.get("fits")}
    sram = record["sram_bytes"] + record["stack_bytes"]
    cycles = record.get("cycles")
    return {
        "fits": record["fits"],
        "equal": _equal(record.get("tried")),
        "board": record["board"],
        "flash": {"used": flash, "limit": limits["flash_bytes"]},
        "sram_with_stack": {"used": sram, "limit": limits["sram_bytes"]},
        "most_ms": cycles["most_ms"] if cycles else "not proven",
    }


def of_comparison(record: JsonObject) -> JsonObject:
    """Return whether NumPy, C and the board agree on the test points."""
    return {
        "equal": _agrees(record),
        "compared": ["NumPy", *(each["execution"] for each in record.get("executions", ()))],
        **_accuracy(record),
        "clamped_inputs": record.get("saturations"),
    }


def of_run(record: JsonObject) -> JsonObject:
    """Return the accuracy, time and energy of a board."""
    bound = record.get("cycles_possible") or {}
    return {
        "equal": _agrees(record),
        "board": record.get("board"),
        **_accuracy(record),
        "mean_ms": (record.get("latency_ms") or {}).get("mean"),
        "most_ms": bound.get("most_ms"),
        "mean_mj": (record.get("energy_mj") or {}).get("mean"),
        "unanswered": record.get("lost"),
        "clamped_inputs": record.get("saturations"),
    }


def of_report(record: JsonObject) -> JsonObject:
    """Return where the report is."""
    return {"report": record.get("report")}


def of_export(record: JsonObject) -> JsonObject:
    """Return where a library is, and whether it passed its self-test."""
    return {
        "equal": _equal(record.get("tried")),
        "kind": record.get("kind"),
        "folder": record.get("folder"),
        "file": record.get("file"),
        "flash_bytes": record.get("flash_bytes"),
        "files": len(record["files"]) if "files" in record else None,
    }


def of_upload(record: JsonObject) -> JsonObject:
    """Return the port of the board."""
    return {"port": record.get("port")}


def _accuracy(record: JsonObject) -> JsonObject:
    """Return the accuracy with its interval, or the figures of numbers and sets of labels."""
    quality = record.get("quality") or {}
    others = {name: record.get(name) for name in ("errors", "labels")}
    interval = record.get("accuracy_interval") or quality.get("accuracy_interval")
    return {"n": record.get("n"), "accuracy": record.get("accuracy"), "interval": interval} | others


def _agrees(record: JsonObject) -> bool | None:
    if "mismatches" not in record:
        return None
    return not any(record.get(name) for name in ("mismatches", "lost", "cycles_out_of_range"))


def _equal(tried: JsonObject | None) -> bool | str | None:
    """Return whether a program gave the same scores as NumPy, or why that is unknown."""
    if not tried:
        return None
    return tried["mismatches"] == 0 if tried["n"] else f"not tried: {tried['left_out']}"
