"""Facts that commands print about a new model: accuracy and size."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from protonn_edge.cli.command import Output
from protonn_edge.data.naming import NO_CLASS, Notice, listed, quoted
from protonn_edge.data.points.dataset import Dataset, Float32
from protonn_edge.learn.evaluation import accuracy
from protonn_edge.learn.evaluation.fidelity import fidelity_of
from protonn_edge.learn.evaluation.figures import (
    accuracy_figure,
    detection_figures,
    quality_figures,
)
from protonn_edge.learn.evaluation.terminal import class_parts, fact_table
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import answers_of, quantize, why_floats_alone
from protonn_edge.model.rule_kinds import answering_kind, described
from protonn_edge.report.data_summary import repetitions
from protonn_edge.system.figures import facts_of, percent
from protonn_edge.system.schema import JsonObject

_BY_CHANCE = 0.05  # share of rows of coarse data that may repeat
_UNBALANCED = 0.7  # share of one class from which accuracy alone misleads


_ONLY = "only, which overestimates the accuracy on new data"


def describe(
    model: Model, dataset: Dataset, out: Output
) -> tuple[JsonObject, list[RenderableType]]:
    """Return the facts about a trained model; warn if it has not learned the classes.

    These are the JSON object, with accuracies 0 to 1 or None, and the parts to print that put the
    accuracy into proportion.
    """
    kind = answering_kind(model.policy)
    if kind is not None:
        out.notice(repeated_rows(dataset))
        return kind.describe(model, dataset, out), []
    X, y, reason = dataset.X_test, dataset.y_test, why_floats_alone(model)
    parts = dataset.X_train, X
    answers = [model.predict(each) if len(each) else np.empty(0, np.int64) for each in parts]
    of_device = answers if reason else [device_answers(model, each) for each in parts]
    unfaithful = [] if reason else fidelity_of(model, dataset.X_train, dataset.y_train).notices()
    out.notice(
        [
            *unlearned(dataset, *of_device, weighted=_is_weighted(model)),
            *unbalanced(model, dataset),
            *repeated_rows(dataset),
            *unfaithful,
        ]
    )
    record = {
        "train_accuracy": accuracy.share_right(answers[0], dataset.y_train),
        "float_accuracy": accuracy.share_right(answers[1], y) if len(y) else None,
        "n": len(y),
        "tested": _tested(dataset),
        "too_few": any(notice.kind == "too_few" for notice in dataset.notices),
        "restarts": list(model.record.get("restarts", ())),
        **described(model.policy),
        "unknown_share": None,
    }
    predicted = of_device[1]
    if reason is None:
        facts = _describe_integers(model, predicted, y)
    else:
        size = paper_bytes(matrices_of(model.head).values())
        facts = {"accuracy": None, "paper_bytes": size, "no_device": reason}
    quality = quality_of(predicted, y, model)
    record |= facts
    if quality is None:
        return record | {"quality": None}, []
    table = fact_table(facts_of(quality_figures(quality)))
    return record | {"quality": quality.to_json()}, [table, *class_parts(quality)]


def device_answers(model: Model, X: Float32) -> NDArray[np.int64]:
    """Return the answers (n,) to raw points X (n, D) of a model's integers, if it has some."""
    return answers_of(model, X)[0] if len(X) else np.empty(0, np.int64)


def _describe_integers(
    model: Model, predicted: NDArray[np.int64], y: NDArray[np.int64]
) -> JsonObject:
    """Return the record of a model's integers, with their answers to test points (n,)."""
    integers = quantize(model)
    tested = len(y) > 0
    found, others = predicted == NO_CLASS, y == NO_CLASS
    detected = {
        "normal": int((~others).sum()),
        "false_alarms": int((found & ~others).sum()),
        "others": int(others.sum()),
        "found": int((found & others).sum()),
    }
    rejects = tested and bool(model.policy.other_answers)
    return {
        "accuracy": accuracy.share_right(predicted, y) if tested else None,
        "unknown_share": accuracy.share_of(predicted, NO_CLASS) if rejects else None,
        "one_class": detected if tested and model.n_classes == 1 else None,
        "model_bytes": integers.model_bytes,
        "model_sha256": integers.model_sha256,
    }


def quality_of(
    predicted: NDArray[np.int64], y: NDArray[np.int64], model: Model
) -> accuracy.Quality | None:
    """Return the figures of a model's answers to points of its classes, if there are any."""
    of_class, n = y != NO_CLASS, model.n_classes
    answers = np.where(predicted == NO_CLASS, n, predicted)
    counts = accuracy.confusion_matrix(answers[of_class], y[of_class], n + 1)[:n]
    return accuracy.Quality.of(counts, model.classes) if n > 1 else None


def unlearned(
    dataset: Dataset,
    of_training: NDArray[np.int64],
    of_test: NDArray[np.int64],
    *,
    weighted: bool = False,
    remedy: str = "check the labels and features, or train longer",
) -> list[Notice]:
    """Warn of a model that is no better than a constant, or never answers a class.

    If the model was trained with `weighted` classes, each of them counts alike.
    """
    if dataset.n_classes < 2:
        return []
    notices = []
    y, answers, part = dataset.y_train, of_training, "training"
    if len(dataset.y_test):
        y, answers, part = dataset.y_test, of_test, "test"
    counts = np.bincount(y)
    weights = 1 / counts[y] if weighted else np.ones(len(y))
    weights /= weights.sum()
    right = float(weights[answers == y].sum())
    constant = 1 / np.count_nonzero(counts) if weighted else float(counts.max() / len(y))
    by_chance = math.sqrt(constant * (1 - constant) * (weights**2).sum())  # a standard error
    if constant < 1 and right <= constant + by_chance:
        text = (
            f"{percent(right)} of {len(y):,} {part} points are classified correctly, "
            f"{'as a mean over the classes, ' if weighted else ''}which is "
            f"not clearly better than always answering {quoted(dataset.classes[counts.argmax()])} "
            f"({percent(constant)}); {remedy}"
        )
        notices.append(Notice("chance", text, warning=True))
    present = np.union1d(dataset.y_train, dataset.y_test)
    never = np.setdiff1d(present, np.concatenate([of_training, of_test]))
    names = tuple(name for index, name in enumerate(dataset.classes) if index in never)
    if names:
        text = f"the model never answers {listed(names)}; add more points of these classes"
        notices.append(Notice("never_answered", text, warning=True, columns=names))
    return notices


def repeated_rows(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings if rows contradict others, or if test points are training points, too.

    A few may repeat by chance.
    """
    repeated = repetitions(dataset)
    n, trained = dataset.y_test.shape[0], dataset.y_train.shape[0]
    if (count := repeated["contradicting"]) > _BY_CHANCE * trained:
        text = (
            f"{count:,} of the {trained:,} training points equal others of another class, so no "
            "model can be right on all of them; correct the labels, or add features"
        )
        yield Notice("contradicting", text, warning=True)
    of_reading = dataset.predicts == "value" and dataset.n_features == 1  # which repeats anyway
    if repeated["in_test"] > _BY_CHANCE * n and not of_reading:
        text = (
            f"{repeated['in_test']:,} of the {n:,} {_tested(dataset)} are also training points, so "
            "the accuracy on new data is lower; remove duplicate rows"
        )
        yield Notice("training_rows", text, warning=True)


def _tested(dataset: Dataset) -> str:
    held_out = dataset.division is not None and dataset.division.share
    return "held-out points" if held_out else "test points"


def _is_weighted(model: Model) -> bool:
    return model.record.get("settings", {}).get("class_weight") is not None


def unbalanced(model: Model, dataset: Dataset) -> list[Notice]:
    """Return a warning if most training points are of one class, so that accuracy misleads."""
    counts = np.bincount(dataset.y_train)
    share = float(counts.max() / len(dataset.y_train))
    weighted = _is_weighted(model)
    tested = len(dataset.y_test) > 0
    if dataset.n_classes < 2 or not _UNBALANCED < share < 1 or (weighted and tested):
        return []
    text = (
        f"{100 * share:.3g} % of the training points are of class "
        f"{quoted(dataset.classes[counts.argmax()])}; check the recall of each class"
    )
    text += "" if tested else ", which 'train' prints if points are held out, and 'hil'"
    text += "" if weighted else ", and try --class-weight balanced"
    return [Notice("unbalanced", text, warning=True)]


def detection_report(record: JsonObject) -> list[RenderableType]:
    """Return the lines about a one-class model: false alarms and detected outliers."""
    recorded = record.get("one_class")
    if not recorded:
        return []
    facts = facts_of(detection_figures(**recorded))
    return ["the integer model, on points not used for training:", fact_table(facts)]


def sentence_of(record: JsonObject) -> str:
    """Return the facts from `describe` as a sentence: first the accuracy on points held out."""
    if "sentence" in record:
        return str(record["sentence"])
    if "no_device" in record:
        sizes = f"{record['paper_bytes']:,} B by the ProtoNN paper's count, in floats only"
    else:
        sizes = f"{record['model_bytes']:,} B of int8 parameters"
    trained = f"{percent(record['train_accuracy'])} in training"
    if record["too_few"]:
        return f"too few points to estimate the accuracy ({trained}); {sizes}"
    if not record["n"]:
        return f"accuracy {trained} {_ONLY}; {sizes}"
    n, in_floats = record["n"], record["float_accuracy"]
    share = in_floats if record["accuracy"] is None else record["accuracy"]
    interval = accuracy_figure(share, n).range
    tested = f"accuracy {percent(share)} on {n:,} {record['tested']} (95 % confidence: {interval}"
    if record["unknown_share"] is not None:
        tested += f"; {percent(record['unknown_share'])} answered 'unknown'"
    tested += ")" if record["accuracy"] is None else f"), {percent(in_floats)} in floats"
    return f"{tested}, {trained}; {sizes}"
