"""The five stages of the way to a board: how far each is, by files alone, and what is next.

A stage has a mark: ``none`` if it waits for another one, ``ready``, ``done``, ``warn`` if its
result needs a look, ``old`` if that is not of the files that are here now. A sentence is a list of
texts of which every second one is a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protonn_edge.data.options import options_of_texts
from protonn_edge.extensions.studio.related import RelatedFiles, are_of_model
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

_FEW_TAKES, _FEW_CLASSES = 3, 2
_MOVE = "Move the board. This computer answers with the board's own integers."
_WORDS = ("no", "one", "two", "three")

Sentence = list[str]


@dataclass(frozen=True)
class Memory:
    """What no file states, and nothing but words depends on."""

    notices: Callable[[str], Sequence[JsonObject]] = lambda _: ()  # of the file of a name
    accuracy: Callable[[str, str], JsonObject] = lambda _model, _points: {}
    doubts: Callable[[str, Mapping[str, Any]], JsonObject] = lambda _table, _read: {}
    tried: Collection[str] = ()  # the hashes of models whose answers were seen
    uploaded: Collection[str] = ()  # the hashes of models that were uploaded
    has_port: bool = False


class Stages:
    """The stages of related files, with how a table is read, if the page says so."""

    def __init__(
        self,
        related: RelatedFiles,
        memory: Memory | None = None,
        read: Mapping[str, Any] | None = None,
    ) -> None:
        self._used, self._memory, self._chosen_read = related, memory or Memory(), read or {}

    def to_json(self) -> dict[str, JsonObject]:
        """Return the stages by their names, in their order."""
        data = self._data()
        train = self._train(data)
        trained = train["mark"] in ("done", "warn", "old")
        tried = self._try() if trained else _waits("needs a model")
        board = self._board() if trained else _waits("")
        built = "flash_bytes" in board["facts"]
        report = self._report() if built else _waits("")
        if not self._used.is_of_samples:
            tried = _waits("") | {"absent": True}
        if train["mark"] == "old":
            for stage in (board, report):
                _outdate(stage)
        made = {"data": data, "train": train, "try": tried, "board": board, "report": report}
        sources = {
            "data": [self._used.data], "train": [self._used.points, self._used.model],
            "board": [self._used.project], "report": [self._used.results, self._used.report],
        }  # fmt: skip
        every: list[JsonObject] = []
        for name, stage in made.items():
            own = [
                {**notice, "of": file}
                for file in dict.fromkeys(filter(None, sources.get(name, ())))
                for notice in self._memory.notices(file)
            ]
            own = [notice for notice in own if notice not in every]
            warned = [notice for notice in own if notice["warning"]]
            if name == "report":
                own += [one for one in every if one["warning"]]
            every += own
            stage["notices"] = sorted(own, key=lambda notice: not notice["warning"])
            if warned and stage["mark"] == "done":
                stage["mark"] = "warn"
        return made

    def _data(self) -> JsonObject:
        facts = self._used.data_facts
        if not facts:
            return _stage("ready", "nothing yet", ["Record a first take, or drop a file here."])
        kind = facts["kind"]
        if kind == "takes" and facts.get("error"):  # of several files, or with labels beside them
            lead = [
                "",
                self._used.data,
                " is ready to train with, but its takes are edited elsewhere.",
            ]
            return self._ready_data("done", self._used.data, lead, {})
        if facts.get("error"):
            return _stage("warn", "cannot be read", [facts["error"]])
        if kind == "recording" or "takes" in facts:
            return self._of_takes(facts)
        if kind == "table":
            return self._of_table()
        return self._ready_data(
            "done", self._used.data, ["", self._used.data, " is ready to train with."], {}
        )

    def _of_takes(self, facts: JsonObject) -> JsonObject:
        takes: Mapping[str, int] = facts["classes"]
        missing = {name: _FEW_TAKES - n for name, n in takes.items() if n < _FEW_TAKES}
        told = {"takes": facts["takes"], "classes": takes, "missing": missing}
        says = f"{_classes(len(takes))}, {counted(facts['takes'], 'take')}"
        lead, why = self._asked(takes, missing)
        if not takes:
            return _stage("ready", "no take yet", lead, facts=told)
        if len(takes) - len(missing) >= _FEW_CLASSES:
            mark = "warn" if missing else "done"
            says = says if not missing else why.removeprefix("needs ")
            return self._ready_data(mark, says, lead, told)
        stage = _stage("ready", says, lead, _action("Train a model", why=why), facts=told)
        if len(takes) >= _FEW_CLASSES:
            stage["again"] = _action("Train anyway", "train", "train")
        return stage

    @staticmethod
    def _asked(takes: Mapping[str, int], missing: Mapping[str, int]) -> tuple[Sentence, str]:
        """Return which takes are wanted next, and why there is nothing to train before."""
        if not takes:
            return ["Name what you will do, and record three takes of it."], "needs takes"
        label, n = next(iter(missing.items()), ("", 0))
        some = f"{_WORDS[n]} more {'take' if n == 1 else 'takes'} of "
        if len(takes) < _FEW_CLASSES and not missing:
            return ["Record three takes of a second class."], "needs a second class"
        if not missing:
            return ["There are enough takes of each class; more people make it better."], ""
        enough = len(takes) - len(missing) >= _FEW_CLASSES
        then = "." if enough else ", then you can train." if len(takes) > 1 else "."
        return [some.capitalize(), label, then], f"needs {n} more of {label}"

    def _of_table(self) -> JsonObject:
        found = self._memory.doubts(self._used.data, self._read())
        doubt: Sequence[str] = found.get("doubt", ())
        lead = ["", self._used.data, f": {counted(found.get('rows', 0), 'row')}."]
        if found.get("error"):
            return _stage("warn", "needs your decision", [found["error"]], facts=found)
        if not doubt:
            says = f"{found.get('rows', 0):,} rows"
            if gaps := found.get("gaps"):
                lead[2] += (
                    f" {counted(gaps, 'cell')} of its columns {'is' if gaps == 1 else 'are'} empty."
                )
            return self._ready_data("done", says, lead, found)
        n = len(doubt)
        lead[2] += f" {_WORDS[n].capitalize() if n <= _FEW_TAKES else n} of its columns"
        lead[2] += f" need{'s' * (n == 1)} your decision."
        why = f"{doubt[0]}: use it, or leave it out?"
        action = _action("Train a model", why=why)
        return _stage("warn", f"{counted(n, 'column')} in doubt", lead, action, facts=found)

    def _read(self) -> Mapping[str, Any]:
        """Return how the table is read: as the page says, else as the model's training did."""
        if self._chosen_read or not self._used.model_facts.get("read"):
            return self._chosen_read
        options = options_of_texts(self._used.model_facts["read"])
        column = options.label or self._used.model_facts.get("label")
        return {"column": column, "keep_columns": [*options.keep], "drop": [*options.drop]}

    def _ready_data(
        self, mark: str, says: str, lead: Sentence, facts: Mapping[str, Any]
    ) -> JsonObject:
        train = _action("Train a model", "train", "train")
        stage = _stage(mark, says, lead, train, facts=facts)
        if self._used.model:
            train["text"] = "Train again"
            if self._used.is_current(self._used.model) is not False:
                stage |= {"next": _action("See the model", "train"), "again": train}
        return stage

    def _train(self, data: JsonObject) -> JsonObject:
        ready = bool((data["next"] or {}).get("ready"))
        if not self._used.model:
            if not ready and not data["again"]:
                why = (data["next"] or {}).get("why", "") or "needs data"
                return _waits(why)
            return _stage(
                "ready", "not trained yet", self._waiting(), _action("Train", run="train")
            )
        facts = self._memory.accuracy(self._used.model, self._used.points)
        again = _action("Train again", run="train", ready=not self._used.data or ready)
        says = _accuracy(facts)
        if self._used.is_current(self._used.model) is False:
            lead = [
                "",
                self._used.data or self._used.model,
                " has changed since the model was trained.",
            ]
            for name in self._used.origins(self._used.model)[:1]:
                lead = ["", self._used.model, " is of ", name, "."]
            return _stage("old", "older than the data", lead, again, facts=facts)
        go = (
            ("try", "Try it live") if self._used.is_of_samples else ("board", "Put it on the board")
        )
        lead = ["", self._used.model, f" is trained: {says}."]
        if held := facts.get("sessions"):
            lead = ["Tested on ", ", ".join(held), ", of whom the model has seen nothing."]
        return _stage("done", says, lead, _action(go[1], go[0]), again, facts)

    def _waiting(self) -> Sentence:
        """Return what there is to train with."""
        facts = self._used.data_facts
        if "takes" not in facts:
            return ["Ready to learn from ", self._used.data, "."]
        takes = f"{counted(facts['takes'], 'take')} of {_classes(len(facts['classes']))}"
        several = len(facts["sessions"]) > 1
        tested = "tested on somebody it never saw" if several else "some are kept for the test"
        return [f"{takes}; {tested}."]

    def _try(self) -> JsonObject:
        go = _action("Put it on the board", "board")
        if self._used.model_facts.get("sha256") in self._memory.tried:
            return _stage("done", "tried", [_MOVE], go)
        return _stage("ready", "not tried yet", [_MOVE], go)

    def _board(self) -> JsonObject:
        project, build = (
            self._used.files.get(self._used.project, {}),
            _action("Build it", run="build"),
        )
        if not self._used.model_facts.get("sha256"):
            return _stage("warn", "not for boards", ["This model runs on computers only."])
        if not project or project.get("flash_bytes") is None:
            lead = ["Build the firmware with ", self._used.model, "."]
            return _stage("ready", "not built yet", lead, build)
        build["text"] = "Build it again"
        if not self._used.is_of_model(project):
            lead = ["The firmware in ", self._used.project, " is of another model."]
            return _stage("old", "older than the model", lead, build, facts=project)
        sensors = self._used.data_facts.get("sensors")
        if sensors and project.get("sensors") and project["sensors"] != sensors:
            lead = ["The firmware reads ", project["sensors"][0], ", the takes are of ", sensors[0]]
            return _stage("old", f"built for {project['sensors'][0]}", lead, build, facts=project)
        share = max(project["flash_share"], project["sram_share"])
        measure = _action("Measure and write the report", "report", "report")
        upload = _action(f"Upload to the {project['title']}", run="upload")
        waits = self._memory.has_port and project["model_sha256"] not in self._memory.uploaded
        lead = ["Built for the ", project["title"], f": {percent(share, 0)} of its memory."]
        ways = (upload, build) if waits else (measure, upload if self._memory.has_port else build)
        return _stage("done", f"fits, {percent(share, 0)}", lead, *ways, facts=project)

    def _report(self) -> JsonObject:
        results, measure = (
            self._used.files.get(self._used.results, {}),
            _action("Measure again", run="report"),
        )
        first = _action("Measure and write the report", run="report")
        show = _action("Open the report", run="open")
        if not results:
            lead = ["Measure accuracy, time and memory with the points that training held out."]
            return _stage("ready", "not measured yet", lead, first)
        if results.get("error"):
            return _stage("warn", "cannot be read", [results["error"]], first)
        if not are_of_model(results, self._used.model_facts["sha256"]):
            lead = ["", self._used.results, " is of another model."]
            return _stage("old", "of another model", lead, first)
        n, wrong, points = results["n"], results["mismatches"], results["points"]
        if n < points:
            lead = [f"The measurement was stopped after {n:,} of {points:,} points."]
            return _stage("warn", f"stopped at {n:,} of {points:,}", lead, first, facts=results)
        where = "the emulated board" if results["emulated"] else "the board"
        says = f"{wrong:,} mismatches" if wrong != 1 else "1 mismatch"
        lead = [f"{counted(n, 'point')} ran on {where}: {says}."]
        if self._used.files.get(self._used.report, {}).get("run") != results["run"]:
            return _stage("old", "measured since the report", lead, first, facts=results)
        return _stage("warn" if wrong else "done", says, lead, show, measure, results)


def _stage(
    mark: str,
    says: str,
    lead: Sentence,
    following: JsonObject | None = None,
    again: JsonObject | None = None,
    facts: Mapping[str, Any] | None = None,
) -> JsonObject:
    stage = {"mark": mark, "says": says, "lead": lead, "next": following, "again": again}
    return stage | {"facts": facts or {}, "notices": []}


def _outdate(stage: JsonObject) -> None:
    """Mark what was made of a model that is older than the data."""
    if stage["mark"] in ("done", "warn"):
        train = _action("Train again", "train", "train")
        stage |= {"mark": "old", "says": "older than the data"}
        stage |= {"next": train, "again": stage["next"]}


def _waits(why: str) -> JsonObject:
    return _stage("none", why, [])


def _action(
    text: str, go: str | None = None, run: str | None = None, *, ready: bool = True, why: str = ""
) -> JsonObject:
    return {"text": text, "go": go, "run": run, "ready": ready and not why, "why": why}


def _classes(n: int) -> str:
    return "1 class" if n == 1 else f"{n:,} classes"


def _accuracy(facts: Mapping[str, Any]) -> str:
    if facts.get("right") is not None and facts.get("n"):
        return f"{percent(facts['right'] / facts['n'], 1)} right"
    value = facts.get("value") or {}
    if value.get("bound") or value.get("error"):
        return f"±{value.get('bound') or value['error']:.3g}"
    return "trained"
