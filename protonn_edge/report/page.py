"""The report as one HTML file without external resources.

The template escapes everything from data; a policy in the page's head allows only its own script,
and no requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, count

from markupsafe import Markup

from protonn_edge import __version__
from protonn_edge.codegen.renderer import html_environment
from protonn_edge.model import head
from protonn_edge.model.policy import about_answers
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.report import answers, panels
from protonn_edge.report.content import (
    PageScript,
    Panel,
    Section,
    SectionOfRun,
)
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.points import payload, row_prompt
from protonn_edge.system.extensions import extensions
from protonn_edge.system.figures import Figure

_PAGE_MCU = "atmega328p"  # of uno.js among the scripts of pages
_OTHER_CHIP = "the page can emulate only an ATmega328P, but this firmware is for another chip"
_SETS = "the page cannot show answers that are sets of labels"
_ID = re.compile(r'(?<=[#"])(?=[a-z]+[0-9a-f]{10}[")])')  # the beginning of one, by matplotlib
_CLASSES_NAMED = 40


def render_page(
    one: Evidence,
    script: PageScript,
    *,
    title: str = "",
    command: str = "",
    added: Sequence[Section] = (),
) -> str:
    """Return the report of a run, the same text for the same evidence.

    The `script` runs the Uno in the page. By default, classes and board are the title. The
    `command` made the report; `added` are more sections.
    """
    environment, numbers = html_environment(), count()
    environment.filters["own_ids"] = lambda figure: Markup(  # noqa: S704 - with ids of its own
        _ID.sub(f"f{next(numbers)}-", figure)
    )
    predicts = one.reference.policy.predicts
    code = None if script.text is None or predicts == "labels" else _inline(script.text)
    of_answers = chain.from_iterable(kind.answer_sections() for kind in rule_kinds())
    parts = [_section(each, one) for each in (*of_answers, *_SECTIONS)]
    parts += added
    parts += [_section(each, one, folded=True) for each in _details()]
    missing = script.missing if one.board.mcu == _PAGE_MCU else _OTHER_CHIP
    missing = _SETS if predicts == "labels" else missing
    return environment.get_template("report.html.j2").render(
        title=title or title_of(one),
        script=code,
        run=one.origin,
        script_hash="" if code is None else _hash(code),
        missing=missing,
        uno=code is not None and not missing,
        data=None if code is None else _json(payload(one, runs=not missing)),
        row_words=row_prompt(one),
        interval=about_answers(one.reference.policy) if predicts == "value" else None,
        image=one.image_shape is not None and one.image_shape[0] > 1,
        identity=identity_of(one),
        proof=proof_of(one),
        headlines=headlines_of(one),
        sections=[part for part in parts if part.panels],
        provenance=_provenance(one, command),
    )


def _provenance(one: Evidence, command: str) -> list[tuple[str, str]]:
    """Return hashes, versions and the command, for reproducing the report."""
    record = one.model.record
    facts = [
        ("model SHA-256", one.reference.model_sha256),
        ("points SHA-256 begins with", one.origin.data),
        ("firmware SHA-256", one.firmware.sha256),
        ("sizes", _sizes(one)),
        ("measured on", _devices(one)),
    ]
    versions = record.get("versions")
    if isinstance(versions, dict):
        text = ", ".join(f"{name} {version}" for name, version in versions.items())
        facts.append(("trained with", text))
    if "seed" in record:
        facts.append(("seed", str(record["seed"])))
    facts.append(("report by", f"protonn-edge {__version__}"))
    return facts + ([("command", command)] if command else [])


def _devices(one: Evidence) -> str:
    names = {result.device for result in one.results}
    return ", ".join(sorted(names - {""})) or "-"


def _sizes(one: Evidence) -> str:
    model = one.model
    sizes = "".join(f"{size.symbol} = {size.number:,}, " for size in model.sizes)
    return (
        f"D = {model.n_inputs:,}, {sizes}L = {model.n_classes:,}; "
        f"{one.reference.model_bytes:,} B of parameters"
    )


def _inline(script: str) -> Markup:
    """Return a script of the package in a form that can be embedded in a page."""
    # Nothing in it may end the element; in a string or a comment <\/script means the same.
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))  # noqa: S704


def _hash(script: str) -> str:
    """Return the script's source expression for a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _json(value: object) -> Markup:
    """Return JSON that can be embedded in a script element, with any names in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


_NOUNS = {"class": "classes", "labels": "labels", "value": "predicted"}


def _run_on(one: Evidence) -> str:
    """Return the board or, if instructions were counted, what stood in its place."""
    board = one.board.title.removeprefix("Arduino ")
    return board if one.counts == "cycles" else f"emulated core for the {board}"


def title_of(one: Evidence) -> str:
    """Return the number of classes, and the board."""
    board = _run_on(one)
    article = "an" if board[0].lower() in "aeiou" else "a"
    count = one.reference.n_classes
    if one.reference.policy.predicts == "value":
        return f"{one.reference.classes[0]} on {article} {board}"
    noun = "class" if count == 1 else _NOUNS[one.reference.policy.predicts]
    return f"{count} {noun} on {article} {board}"


def identity_of(one: Evidence) -> list[tuple[str, str]]:
    """Return the classes, the data, the model and the board of a run."""
    classes, board, model = one.reference.classes, one.board, one.model
    named = ", ".join(classes[:_CLASSES_NAMED])
    if len(classes) > _CLASSES_NAMED:
        named += f" and {len(classes) - _CLASSES_NAMED:,} more"
    points = f"{len(one.results):,} test points"
    sizes = "".join(f", {size.symbol} = {size.number:,}" for size in model.sizes)
    timed = one.counts == "cycles"
    how = f"{board.clock_hz / 1e6:g} MHz" if timed else "as an emulated core, without a clock"
    return [
        (_NOUNS[one.reference.policy.predicts], named),
        ("data", f"{one.data_name}, {points}" if one.data_name else points),
        ("model", f"{head.title_of(model)}, D = {model.n_inputs:,}{sizes}"),
        ("board", f"{board.title}, {how}"),
    ]


def proof_of(one: Evidence) -> tuple[bool, str] | None:
    """Return whether the executions agree, and a sentence; None if none were compared."""
    compared = [result.mismatch for result in one.results if result.mismatch is not None]
    if not compared:
        return None
    executions, wrong = ["NumPy", _run_on(one)], sum(compared)
    if one.on_host is not None:
        executions[1:1] = ["C"]
        wrong += one.on_host.mismatches
    what = "scores" if one.reference.policy.predicts == "value" else "class and scores"
    comparison = f"{len(compared):,} points, {wrong:,} mismatches in {what}"
    if wrong:
        return False, f"the executions disagree ({', '.join(executions)}): {comparison}."
    return True, f"{' = '.join(executions)}: {comparison}."


_HEADLINES = ("latency_ms", "energy_mj", "instructions", "flash_bytes", "memory_bytes")


def headlines_of(one: Evidence) -> list[Figure]:
    """Return the main figures of a run, in large type: the answers' first, time and memory."""
    bound = one.bound_cycles
    notes = {} if bound is None else {"latency_ms": f", bound {one.board.time(bound)}"}
    first, *others = [each for each in one.figures if each.key != "n"]
    main = [first, *(each for each in others if each.key in _HEADLINES)]
    return [replace(each, note=notes.get(each.key, each.note)) for each in main]


def _section(made: SectionOfRun, one: Evidence, *, folded: bool = False) -> Section:
    return Section(made.name, made.title, made.lead, tuple(made.panels(one)), folded)


def _of_classes(panels: Callable[[Evidence], list[Panel]]) -> Callable[[Evidence], list[Panel]]:
    """Return the function of panels, without any for a run that predicts numbers."""
    return lambda one: panels(one) if one.reference.policy.predicts == "class" else []


_SECTIONS = (
    SectionOfRun("accuracy", "Accuracy", "", _of_classes(answers.accuracy_panels)),
    SectionOfRun(
        "mistakes",
        "The worst mistakes",
        "Wrong answers, the most confident first. #0 is the first row of the data.",
        _of_classes(answers.mistake_panels),
    ),
    SectionOfRun(
        "sketch",
        "In your own sketch",
        "How to put this model into a program of your own.",
        panels.sketch_panels,
    ),
    SectionOfRun(
        "memory",
        "Memory",
        "Flash and SRAM of the linked firmware, including the protocol and the drivers.",
        panels.memory_panels,
    ),
)


_COST = (
    SectionOfRun(
        "latency",
        "Latency",
        "Cycles, counted by the board's own timer. A proven bound holds for every input.",
        panels.latency_panels,
    ),
    SectionOfRun("energy", "Energy", "", panels.energy_panels),
)

_ORIGIN = (
    SectionOfRun(
        "plan",
        "Plan",
        "How a prediction is computed, stage by stage.",
        panels.plan_panels,
    ),
    SectionOfRun(
        "quantization",
        "Quantization",
        "Accuracy on the test points as the model is quantized step by step.",
        panels.quantization_panels,
    ),
    SectionOfRun("training", "Training", "", panels.training_panels),
)


def _details() -> list[SectionOfRun]:
    parts = [each for one in extensions() for each in one.report_parts()]
    added = [each for each in parts if isinstance(each, SectionOfRun)]
    of_rules = chain.from_iterable(kind.sections() for kind in rule_kinds())
    return [*of_rules, *_COST, *added, *_ORIGIN]
