"""The five stages of the way to a board: how far each is, by files alone, and what is next.

A stage has a mark: ``none`` if it waits for another one, ``ready``, ``done``, ``warn`` if its
result needs a look, ``old`` if that is not of the files that are here now. A sentence is a list of
texts of which every second one is a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from protonn_edge.data.options import options_of_texts
from protonn_edge.extensions.studio.actions import READ
from protonn_edge.extensions.studio.related import RelatedFiles, are_of_model
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

_FEW_TAKES, _FEW_CLASSES = 3, 2
_MOVE = "Move the board, and watch its answers."
_PLAY = "The emulated board plays recorded samples; watch its answers."
_MAKE_A_SOUND = "Make a sound near the microphone, and watch the answers."
_HELD_OUT = "Here is what training held out, the wrong answers first; no board is needed."
_NO_BOARD = "Here is what training held out; connect a board to watch its answers."
_SOUND_HZ = 2_000  # from which samples are sound
_FEW_NAMES = 3
_WORDS = ("no", "one", "two", "three")
_SHOWN_IN = {"export": "board"}  # actions whose notices are not about the file that they read

Sentence = list[str]


@dataclass(frozen=True)
class Memory:
    """What no file states, and nothing but words depends on."""

    notices: Callable[[str], Sequence[JsonObject]] = lambda _: ()  # of the file of a name
    accuracy: Callable[[str, str], JsonObject] = lambda _model, _points: {}
    columns: Callable[[str, JsonObject], JsonObject] = lambda _table, _read: {}
    tried: Collection[str] = ()  # the hashes of models whose answers were seen
    is_uploaded: Callable[[str], bool] = lambda _: False  # of the firmware in a folder
    has_port: bool = False
    is_emulated: bool = False  # whether samples come from an emulated board


@dataclass
class Stage:
    """A stage, as the page shows it."""

    mark: str
    says: str  # its line in the bar
    lead: Sentence  # below its title
    next: JsonObject | None = None  # the one primary action
    again: JsonObject | None = None  # a quiet one beside it
    facts: JsonObject = field(default_factory=dict)
    notices: list[JsonObject] = field(default_factory=list)

    @property
    def has_result(self) -> bool:
        """Whether something was made, however old."""
        return self.mark in ("done", "warn", "old")

    def outdate(self) -> None:
        """Mark what was made of a model that is older than the data."""
        if self.mark in ("done", "warn"):
            self.mark, self.says = "old", "older than the data"
            self.next, self.again = _action("Train again", "train", "train"), self.next


class Stages:
    """The stages of related files, with how a table is read, if the page has chosen that."""

    def __init__(
        self,
        related: RelatedFiles,
        memory: Memory | None = None,
        read: JsonObject | None = None,
    ) -> None:
        self._used, self._memory, self._chosen_read = related, memory or Memory(), read or {}
        self._read = dict(self._chosen_read or self._read_in_training())

    def to_json(self) -> JsonObject:
        """Return the ``stages`` by their names, in their order, and how the table is ``read``."""
        data = self._data()
        train = self._train(data)
        tried = self._try() if train.has_result else _waits("needs a model")
        board = self._board() if train.has_result else _waits("")
        report = self._report() if "flash_bytes" in board.facts else _waits("")
        if train.mark == "old":
            for stage in (board, report):
                stage.outdate()
        made = {"data": data, "train": train, "try": tried, "board": board, "report": report}
        told, every = [*self._notices()], list[JsonObject]()
        for name, stage in made.items():
            own = [notice for place, notice in told if place == name and notice not in every]
            warned = [notice for notice in own if notice["warning"]]
            if name == "report":
                own += [one for one in every if one["warning"]]
            every += own
            distinct = {notice["text"]: notice for notice in own}.values()
            stage.notices = sorted(distinct, key=lambda notice: not notice["warning"])
            if warned and stage.mark == "done":
                stage.mark = "warn"
        return {"stages": {name: vars(stage) for name, stage in made.items()}, "read": self._read}

    def _notices(self) -> Iterator[tuple[str, JsonObject]]:
        """Yield the notices about the files in use, each with the stage that shows it."""
        used = self._used
        sources = {
            "data": [used.data, used.logger], "train": [used.points, used.model],
            "board": [used.project], "report": [*used.other_builds, used.results, used.report],
        }  # fmt: skip
        for stage, files in sources.items():
            for file in dict.fromkeys(filter(None, files)):
                for notice in self._memory.notices(file):
                    place = _SHOWN_IN.get(notice.get("action", ""), stage)
                    yield place, {**notice, "of": file}

    def _data(self) -> Stage:
        facts = self._used.data_facts
        if not facts or facts.get("reading"):
            nothing = ["Record a first take, or drop a file here."]
            return _reading(self._used.data) if facts else Stage("ready", "nothing yet", nothing)
        kind = facts["kind"]
        if kind == "takes" and "takes" not in facts:  # of several files, with labels, or very large
            more = " is ready to train with, but its takes are edited elsewhere."
            return self._ready_data("done", self._used.data, ["", self._used.data, more], {})
        if facts.get("error"):
            return Stage("warn", "cannot be read", [facts["error"]])
        if kind == "recording" or "takes" in facts:
            return self._of_takes(facts)
        if kind == "table":
            return self._of_table()
        lead = ["", self._used.data, " is ready to train with."]
        return self._ready_data("done", self._used.data, lead, {})

    def _of_takes(self, facts: JsonObject) -> Stage:
        takes: Mapping[str, int] = facts["classes"]
        missing = {name: _FEW_TAKES - n for name, n in takes.items() if n < _FEW_TAKES}
        told = {"takes": facts["takes"], "classes": takes, "missing": missing}
        status = f"{_classes(len(takes))}, {counted(facts['takes'], 'take')}"
        lead, why = _asked(takes, missing)
        if not takes:
            return Stage("ready", "no take yet", lead, facts=told)
        if len(takes) - len(missing) >= _FEW_CLASSES:
            mark = "warn" if missing else "done"
            status = status if not missing else why.removeprefix("needs ")
            return self._ready_data(mark, status, lead, told)
        stage = Stage("ready", status, lead, _action("Train a model", why=why), facts=told)
        if len(takes) >= _FEW_CLASSES:
            stage.again = _action("Train anyway", "train", "train")
        return stage

    def _of_table(self) -> Stage:
        found = self._memory.columns(self._used.data, self._read)
        if found.get("reading"):
            return _reading(self._used.data)
        lead = ["", self._used.data, f": {counted(found['rows'], 'row')}."]
        if found.get("error"):
            return Stage("warn", "needs your decision", [found["error"]], facts=found)
        if found["asks"]:
            return _asking(found, lead)
        self._read.update(found["set"])
        if gaps := found["gaps"]:
            are = "is" if gaps == 1 else "are"
            lead[2] += f" {counted(gaps, 'cell')} of its columns {are} empty."
        return self._ready_data("done", f"{found['rows']:,} rows", lead, found)

    def _read_in_training(self) -> JsonObject:
        """Return how the table was read for the model, if it was trained on it."""
        facts, used = self._used.model_facts, self._used
        is_of_table = used.data_facts.get("kind") == "table" and used.model
        if not is_of_table or used.data not in (used.origins(used.model) or [used.data]):
            return {}
        options, predicts = options_of_texts(facts.get("read", ())), facts.get("predicts")
        read = {field: getattr(options, name) for field, name in READ.items()}
        return {
            **read,
            "column": None if options.labels else options.label or facts.get("label"),
            "target": None if predicts == "labels" else predicts,
        }

    def _ready_data(self, mark: str, status: str, lead: Sentence, facts: JsonObject) -> Stage:
        train = _action("Train a model", "train", "train")
        stage = Stage(mark, status, lead, train, facts=facts)
        if self._used.model:
            train["text"] = "Train again"
            if self._used.is_current(self._used.model) is not False and not self._other_column():
                stage.next, stage.again = _action("See the model", "train"), train
        return stage

    def _train(self, data: Stage) -> Stage:
        following = data.next or {}
        ready = bool(following.get("ready")) and following.get("run") != "ask"
        if not self._used.model:
            if not ready and not data.again:
                return _waits(following.get("why") or "needs data")
            lead = self._waiting(data.facts)
            return Stage("ready", "not trained yet", lead, _action("Train", run="train"))
        facts = self._memory.accuracy(self._used.model, self._used.points)
        again = _action("Train again", run="train", ready=not self._used.data or ready)
        status = _accuracy(facts)
        if self._used.is_current(self._used.model) is False:
            lead = ["The data of ", self._used.model, " are not here."]
            if data_file := self._used.data:
                lead = ["", self._used.model, " was not trained with ", data_file, " as it is now."]
            for name in self._used.origins(self._used.model)[:1]:
                lead = ["", self._used.model, " is of ", name, "."]
            return Stage("old", "older than the data", lead, again, facts=facts)
        if column := self._other_column():
            trained = self._used.model_facts["label"]
            lead = ["", self._used.model, " predicts ", trained, ", not ", column, "."]
            return Stage("old", f"predicts {trained}", lead, again, facts=facts)
        go = ("try", "Try it live" if self._is_live else "Try it")
        lead = ["", self._used.model, f" is trained: {status}." if facts else " is trained."]
        if held := facts.get("sessions"):
            lead = ["Tested on ", held_out(held), ", unseen in training."]
        return Stage("done", status, lead, _action(go[1], go[0]), again, facts)

    def _other_column(self) -> str:
        """Return the column that the page has chosen, if the model predicts another one."""
        chosen, trained = (
            each.get("column") or ", ".join(each.get("labels") or ())
            for each in (self._chosen_read, self._read_in_training())
        )
        return str(chosen) if chosen and trained and chosen != trained else ""

    def _waiting(self, found: JsonObject) -> Sentence:
        """Return what there is to train with."""
        facts = self._used.data_facts
        if "takes" not in facts:
            if label := found.get("label"):
                return ["Ready to predict ", label, " from ", self._used.data, "."]
            return ["Ready to learn from ", self._used.data, "."]
        takes = f"{counted(facts['takes'], 'take')} of {_classes(len(facts['classes']))}"
        several = len(facts["sessions"]) > 1
        tested = "tested on somebody it never saw" if several else "some are kept for the test"
        return [f"{takes}; {tested}."]

    @property
    def _is_live(self) -> bool:
        """Whether a sensor of a board brings samples for the model."""
        every = (self._used.data_facts, self._used.model_facts)
        return self._used.is_of_samples and any(each.get("sensors") for each in every)

    def _try(self) -> Stage:
        go = _action("Put it on the board", "board", "upload" if self._memory.has_port else None)
        is_sound = (self._used.data_facts.get("rate") or 0) >= _SOUND_HZ
        lead = [_MAKE_A_SOUND if is_sound else _MOVE]
        if self._memory.is_emulated:
            lead = [_PLAY]
        elif not self._memory.has_port:
            lead = [_NO_BOARD]
        if not self._is_live:
            return Stage("ready", "wrong ones first", [_HELD_OUT], go)
        if self._used.model_facts.get("sha256") in self._memory.tried:
            return Stage("done", "tried", lead, go)
        return Stage("ready", "not tried yet", lead, go)

    def _board(self) -> Stage:
        project = self._used.files.get(self._used.project, {})
        build = _action("Build it", run="build")
        if not self._used.model_facts.get("sha256"):
            return Stage("warn", "not for boards", ["This model runs on computers only."])
        if not project or project.get("flash_bytes") is None:
            lead = ["Build the firmware with ", self._used.model, "."]
            return Stage("ready", "not built yet", lead, build)
        build["text"] = "Build it again"
        if not self._used.is_of_model(project):
            lead = ["The firmware in ", self._used.project, " is of another model."]
            return Stage("old", "older than the model", lead, build, facts=project)
        sensors = self._used.data_facts.get("sensors")
        if sensors and project.get("sensors") and project["sensors"] != sensors:
            lead = ["The firmware reads ", project["sensors"][0], ", the takes are of ", sensors[0]]
            return Stage("old", f"built for {project['sensors'][0]}", lead, build, facts=project)
        share = max(project["flash_share"], project["sram_share"])
        measure = _action("Measure and write the report", "report", "report")
        upload = _action(f"Upload to the {project['title']}", run="upload")
        waits = self._memory.has_port and not self._memory.is_uploaded(self._used.project)
        lead = ["Built for the ", project["title"], f": {percent(share, 0)} of its memory."]
        ways = (upload, build) if waits else (measure, upload if self._memory.has_port else build)
        return Stage("done", f"fits, {percent(share, 0)}", lead, *ways, facts=project)

    def _report(self) -> Stage:
        results = self._used.files.get(self._used.results, {})
        measure = _action("Measure again", run="report")
        first = _action("Measure and write the report", run="report")
        show = _action("Open the report", run="open")
        if not results:
            lead = ["Measure accuracy, time and memory with the points that training held out."]
            return Stage("ready", "not measured yet", lead, first)
        if results.get("error"):
            return Stage("warn", "cannot be read", [results["error"]], first)
        if not are_of_model(results, self._used.model_facts["sha256"]):
            lead = ["", self._used.results, " is of another model."]
            return Stage("old", "of another model", lead, first)
        n, wrong, points = results["n"], results["mismatches"], results["points"]
        if n < points:
            lead = [f"The measurement was stopped after {n:,} of {points:,} {self._used.point}s."]
            return Stage("warn", f"stopped at {n:,} of {points:,}", lead, first, facts=results)
        where = "the emulated board" if results["emulated"] else "the board"
        status = f"{wrong:,} mismatches" if wrong != 1 else "1 mismatch"
        lead = [f"{counted(n, self._used.point)} ran on {where}: {status}."]
        if self._used.files.get(self._used.report, {}).get("run") != results["run"]:
            return Stage("old", "measured since the report", lead, first, facts=results)
        return Stage("warn" if wrong else "done", status, lead, show, measure, results)


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


def _asking(found: JsonObject, lead: Sentence) -> Stage:
    """Return a stage whose primary action leads to what the table does not state."""
    text = "Train a model"
    if found["asks"] == "column":
        text, status, why = "Choose what to predict", "what to predict?", "needs an answer"
        lead[2] += " Which of its columns has the answer?"
    elif found["asks"] == "kind":
        status = why = f"{found['label']}: a number or a class?"
        lead[2] += " Is "
        lead += [found["label"], " a number, or does each of its values stand for a class?"]
    else:
        doubt: Sequence[str] = found["doubt"]
        n = len(doubt)
        status = f"{counted(n, 'column')} in doubt"
        lead[2] += f" {_WORDS[n].capitalize() if n <= _FEW_TAKES else n} of its columns"
        lead[2] += f" need{'s' * (n == 1)} your decision."
        why = f"{doubt[0]}: use it, or leave it out?"
    action = _action(text, run="ask") | {"why": why}
    return Stage("warn", status, lead, action, facts=found)


def _reading(name: str) -> Stage:
    train = _action("Train a model", why="needs the data")
    lead = ["Reading ", name, "; you can look around."]
    return Stage("ready", "being read", lead, train, facts={"reading": True})


def _waits(why: str) -> Stage:
    return Stage("none", why, [])


def _action(
    text: str, go: str | None = None, run: str | None = None, *, ready: bool = True, why: str = ""
) -> JsonObject:
    return {"text": text, "go": go, "run": run, "ready": ready and not why, "why": why}


def held_out(names: Sequence[str]) -> str:
    """Return the sessions or persons that a model was tested on, by their names if they are few."""
    return ", ".join(names) if len(names) <= _FEW_NAMES else counted(len(names), "session")


def _classes(n: int) -> str:
    return counted(n, "class", "classes")


def _accuracy(facts: JsonObject) -> str:
    if facts.get("share") is not None:
        return f"{percent(facts['share'], 1)} right"
    value = facts.get("value") or {}
    if value.get("bound") or value.get("error"):
        error = float(f"{value.get('bound') or value['error']:.3g}")
        return f"±{error:,.15g}"
    return "trained"
