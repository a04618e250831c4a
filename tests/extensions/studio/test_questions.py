"""What the page asks and orders: stages, columns, wires, connections, archives."""

from __future__ import annotations

import wave
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import succeed
from laws.corpus.cases import cases

from protonn_edge.data.options import SHOWN, options_of_texts
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.studio import facts
from protonn_edge.extensions.studio.actions import READ
from protonn_edge.extensions.studio.columns import columns_of, key_of
from protonn_edge.extensions.studio.views import figures, what_if
from protonn_edge.system.errors import InputError

OPTIONS = {*READ.values()}


def test_the_state_names_stages_source_and_next_step(site: Any) -> None:
    state = site.state(read={"column": "label"}, data="../secret.csv")
    assert (state["data"], state["model"], state["start"]) == ("recording.csv", None, False)
    assert [*state["stages"]] == ["data", "train", "try", "board", "report"]
    assert state["stages"]["data"]["lead"] == ["One more take of ", "rest", ", then you can train."]
    assert state["stages"]["data"]["facts"]["missing"] == {"rest": 1, "wave": 2}
    assert state["source"]["sensors"] == ["mpu6050"]
    boards = {each["name"]: (each["sensors"], each["builds"]) for each in state["boards"]}
    assert (boards["uno"], boards["esp32"]) == ((True, True), (False, False))
    assert {"adxl345", "microphone", "a0"} <= {each["name"] for each in state["sensors"]}
    table = site.state(data="table.csv")
    assert (table["data"], table["stages"]["try"]["mark"]) == ("table.csv", "none")


def asked_columns(site: Any, table: str, **read: Any) -> Any:
    """Return what the state says of the columns of a table that is read in some way."""
    status, state = site.ask("/ask/state", {"data": table, "read": read})
    assert (status, state["data"]) == (200, table)
    return state["stages"]["data"]["facts"]


def test_the_columns_of_any_table_are_shown(site: Any) -> None:
    rows = [f"{i % 24},{'ab'[i % 2]},{i * 13 % 29},{i * 7 % 41}.5" for i in range(120)]
    Path("house.csv").write_text("\n".join(["hour,name,wind,indoor", *rows, ""]))
    found = asked_columns(site, "house.csv", column="indoor")
    by_name = {each["name"]: each for each in found["columns"]}
    assert (found["label"], found["target"], found["doubt"]) == ("indoor", "value", ["hour"])
    assert (found["is_number"], found["classes"]) == (True, 41)
    assert (by_name["hour"]["as"], sum(by_name["hour"]["histogram"])) == ("", 120)
    assert by_name["name"]["values"] == ["a", "b"]
    found = asked_columns(site, "house.csv", drop=["hour"], column="name", target="class")
    assert (found["label"], found["target"], found["asks"]) == ("name", "class", "")
    found = asked_columns(site, "house.csv", column="nothing")
    assert (found["asks"], found["error"]) == ("column", "")
    assert [each["name"] for each in found["columns"]] == ["hour", "name", "wind", "indoor"]
    for wrong in ({"column": "a\n"}, {"drop": [[]]}, {"target": "x"}, {"one_hot": [0]}):
        assert site.ask("/ask/state", {"data": "house.csv", "read": wrong})[0] == 400


def test_a_table_is_asked_for_what_it_does_not_state(site: Any) -> None:
    rows = [f"{i * 13 % 29 / 7},{i * 7 % 5},{i * 11 % 31 / 9},{i * 5 % 3}" for i in range(120)]
    Path("plant.csv").write_text("\n".join(["light,grade,soil,label", *rows, ""]))
    assert asked_columns(site, "plant.csv")["asks"] == ""  # which column is called label
    assert asked_columns(site, "plant.csv", column="grade")["asks"] == "kind"
    assert asked_columns(site, "plant.csv", column="grade", target="class")["asks"] == ""
    assert asked_columns(site, "plant.csv", column="light")["asks"] == ""  # which has decimals
    Path("wide.csv").write_text("\n".join(["light,grade,soil,answer", *rows, ""]))
    found = asked_columns(site, "wide.csv")
    assert (found["asks"], found["label"]) == ("column", None)
    assert [each["as"] for each in found["columns"]] == ["out"] * 4


def test_each_table_that_is_read_with_options_is_read_with_fields_of_the_page(
    tmp_path: Path,
) -> None:
    last, tables = "", 0
    for number, case in enumerate(cases()):
        of_table = [each for each in case.readings if each.reader in ("table", "numbers")]
        if case.title == last or not of_table:
            continue
        last, folder = case.title, tmp_path / str(number)
        folder.mkdir()
        path = case.write(folder)
        for reading in (each.filled(case._filled) for each in of_table if not each.is_refused):
            file, words = reading._named(path, folder)
            options = options_of_texts(words)
            given = {name for name, value in vars(options).items() if value}
            if file.suffix not in (".csv", ".tsv") or options.missing == SHOWN or given - OPTIONS:
                continue
            target = "value" if reading.reader == "numbers" else None
            known = load_dataset(file, options, target=target)
            labels = [key_of(column) for column in known.columns if column.role == "label"]
            read = {field: getattr(options, name) for field, name in READ.items()}
            is_one = len(labels) == 1 and not options.labels
            read |= {"column": labels[0]} if is_one else {}
            found = columns_of(file, "", {**read, "target": known.predicts})
            assert (last, found["asks"], found.get("error")) == (last, "", None)
            tables += 1
    assert tables > 80


def test_a_column_of_texts_is_encoded_if_it_has_few(site: Any) -> None:
    rows = [f"town {i},{'ab'[i % 2]},{'xy'[i % 2]}" for i in range(120)]
    Path("towns.csv").write_text("\n".join(["town,kind,label", *rows, ""]))
    found = asked_columns(site, "towns.csv")  # with texts alone
    assert found["error"].startswith("towns.csv has text in")
    assert [(each["name"], each["can"]) for each in found["columns"][:2]] == [
        ("town", False), ("kind", True)
    ]  # fmt: skip
    found = asked_columns(site, "towns.csv", one_hot=["kind"])
    assert (found["asks"], [each["as"] for each in found["columns"]]) == (
        "",
        ["out", "input", "out"],
    )
    found = asked_columns(site, "towns.csv", keep_columns=["town"])
    assert found["error"].startswith("towns.csv:2 has 'town 0' in column 'town'")


@pytest.mark.parametrize("odd", ["", "b", "a\nb", "\u202ea", "a" * 300], ids=repr)
def test_a_column_without_a_name_of_its_own_is_named_by_its_number(site: Any, odd: str) -> None:
    rows = [f"{i * 13 % 29 / 7},{i * 7 % 31 / 9},{'xy'[i % 2]}" for i in range(120)]
    Path("odd.csv").write_text("\n".join([f'"{odd}",b,c', *rows, ""]))
    first, *_ = (each["key"] for each in asked_columns(site, "odd.csv")["columns"])
    found = asked_columns(site, "odd.csv", column="c", drop=[first], target="class")
    assert (found["asks"], found["columns"][0]["as"]) == ("", "out")
    found = asked_columns(site, "odd.csv", column=first)
    assert (found["label"], found["columns"][0]["role"]) == (first, "label")


def test_a_table_that_cannot_be_read_has_its_columns_by_name(site: Any) -> None:
    Path("one.csv").write_text("reading\nx\n")
    found = asked_columns(site, "one.csv", column="nothing")
    assert [each["name"] for each in found["columns"]] == ["reading"]


def test_a_sensor_is_wired_to_the_pins_of_its_board(site: Any) -> None:
    def pins(sensor: str, board: str = "") -> list[str]:
        found = site.ask("/ask/wires", {"sensor": sensor, "board": board})[1]
        return [f"{pin['from']} {pin['to']}" for pin in found["pins"][2:]]

    assert pins("adxl345") == ["SDA A4", "SCL A5"]
    assert pins("adxl345", "mega2560") == ["SDA 20", "SCL 21"]
    assert pins("adxl345-spi") == ["CS 10", "SDI 11", "SDO 12", "SCK 13"]
    assert pins("hx711") == ["DOUT 12", "SCK 13"]
    assert pins("a2") == ["signal a2 A2"]
    for wrong in ({}, {"sensor": "x"}, {"sensor": "../x.toml"}, {"sensor": "a0", "board": "x"}):
        assert site.ask("/ask/wires", wrong)[0] == 400


def test_a_logger_is_built_and_uploaded_only_if_it_is_another(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, opened, jobs = site.server.workspace, [], []
    monkeypatch.setattr(
        workspace.board, "listen", lambda kind, fields, _: opened.append((kind, fields))
    )
    monkeypatch.setattr(workspace.jobs, "start", lambda *job: jobs.append(job))
    port = {"kind": "logger", "port": "/dev/ttyX", "sensor": ["mpu6050"], "rate": 100}
    assert site.ask("/do/connect", port)[0] == 200
    ((steps, stage, then),) = jobs
    assert (stage, [action for action, _ in steps]) == ("data", ["logger", "upload-logger"])
    assert steps[0][1][1:4] == ["--sensor=mpu6050", "--rate=100", "-o"]
    assert steps[1][1] == ["upload", "logger", "--port=/dev/ttyX"]
    then()
    assert opened.pop()[0] == "logger"
    played = {**port, "port": None, "played": ["mpu6050=recording.csv"]}
    site.ask("/do/connect", {**played, "rate": 50})
    assert [action for action, _ in jobs[1][0]] == ["logger"]
    succeed("build", "--sensor", "mpu6050", "--rate", 100)
    assert site.ask("/do/connect", played)[0] == 200
    assert (len(jobs), opened[0][1]["played"]) == (2, ["mpu6050=recording.csv"])
    # The firmware that was uploaded last is no logger, but may be a model's.
    site.ask("/do/connect", port)
    assert [action for action, _ in jobs[2][0]] == ["upload-logger"]
    done = {"action": "upload-logger", "state": "done"}
    workspace.log.add({"stage": "data", "line": "", **done}, [])
    site.ask("/do/connect", port)
    assert len(jobs) == 3
    assert site.ask("/do/connect", {"kind": "logger", "sensor": ["-x"]})[0] == 400
    assert site.ask("/do/sample", {})[0] == 400  # which never replaces a recording
    assert not Path("play.csv").exists()


def test_a_board_that_a_later_step_needs_is_not_given_to_another_tab(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = site.server.workspace.jobs
    monkeypatch.setattr(jobs, "is_running", True)
    monkeypatch.setattr(jobs, "steps", [("build", []), ("upload", ["upload"])], raising=False)
    monkeypatch.setattr(site.server.workspace.board, "listen", lambda *_: None)
    assert "programmed" in site.ask("/do/connect", {"kind": "live"})[1]["error"]
    monkeypatch.setattr(jobs, "steps", [("build", []), ("measure", ["--emulate"])])
    assert site.ask("/do/connect", {"kind": "live"})[0] == 200


def test_a_board_that_classifies_records_no_take(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.server.workspace.board, "_stream", SimpleNamespace(kind="live"))
    for what in ("begin", "end", "discard", "keep", "classify"):
        status, answer = site.ask("/do/order", {"what": what, "label": "x", "session": "a"})
        assert (status, "the board classifies" in answer["error"]) == (400, True)
    monkeypatch.undo()


def test_an_archive_is_saved_once(site: Any) -> None:
    Path("x.zip").write_bytes(b"PK")
    address = site.ask("/do/show", {"name": "x.zip"})[1]["address"]
    request = f"GET {address} HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode()
    status, head, body = site.send(request)
    assert (status, head["Content-Type"], body) == (200, "application/zip", b"PK")
    assert site.send(request)[0] == 404
    for name in ("table.csv", "../secret.csv", "recording.csv"):
        assert site.ask("/do/show", {"name": name})[0] == 400


def test_a_large_folder_is_offered_but_not_read(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wave/1.csv", "wave/2.csv", "rest/1.csv"):
        Path("phone", name).parent.mkdir(parents=True, exist_ok=True)
        Path("phone", name).write_text("ax,ay\n" + "1,2\n3,5\n" * 40)
    state = site.ask("/ask/state", {"data": "phone"})[1]
    assert state["stages"]["data"]["facts"]["classes"] == {"wave": 2, "rest": 1}
    monkeypatch.setattr("protonn_edge.extensions.studio.facts._MOST_FILES", 2)
    Path("phone/rest/2.csv").write_text("ax,ay\n" + "1,2\n3,5\n" * 40)
    state = site.ask("/ask/state", {"data": "phone"})[1]
    assert (state["data"], state["stages"]["data"]["next"]["run"]) == ("phone", "train")
    assert next(one for one in state["files"] if one["name"] == "phone")["kind"] == "takes"


def test_a_state_walks_each_folder_a_few_times_and_no_project(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("images", "project/.pio"):
        Path(name).mkdir(parents=True)
        (Path(name) / "x.csv").touch()
    Path("project/platformio.ini").touch()
    walked, walk = Counter[str](), Path.rglob

    def counted(path: Path, pattern: str) -> Any:
        walked[path.name] += path.is_dir()
        return walk(path, pattern)

    monkeypatch.setattr(Path, "rglob", counted)
    assert site.ask("/ask/state", {"data": "images"})[0] == 200
    assert walked["images"] <= 8
    assert walked["project"] == 0


def test_a_table_of_many_bytes_is_offered_but_not_hashed(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "_MOST_HASHED", 10)
    assert facts.digest(Path("table.csv")) == ""
    assert site.state(data="table.csv")["data"] == "table.csv"


def test_a_folder_of_sounds_has_a_microphone(site: Any) -> None:
    for label in ("hum", "hiss"):
        Path("words", label).mkdir(parents=True)
        for take in range(3):
            with wave.open(f"words/{label}/{take}.wav", "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes(bytes(4000))
    state = site.state(data="words")
    assert (state["source"]["sensors"], state["source"]["rate"]) == (["microphone"], 8000)


def test_sets_of_labels_have_a_share_of_right_ones(site: Any) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    names = np.array(["warm", "loud", "bright"])
    np.savez("sets.npz", X=X.astype(np.float32), y=(X > 0).astype(np.uint8), class_names=names)
    succeed("train", "sets.npz", "-o", "m.npz", "--epochs", 2)
    state = site.state(data="sets.npz")
    facts, says = (state["stages"]["train"][name] for name in ("facts", "says"))
    assert 0.3 < facts["share"] <= 1
    assert 0.3 < facts["recall"] <= 1
    assert says == f"{100 * facts['share']:.1f} % right"


def test_a_file_of_libsvm_is_points(site: Any) -> None:
    Path("points.svm").write_text("0 1:0.5 2:1\n1 1:2 2:3\n" * 9)
    files = {each["name"]: each for each in site.state()["files"]}
    assert files["points.svm"]["kind"] == "points"
    assert (files["points.svm"]["classes"], files["points.svm"]["n_train"]) == (
        {"0": 9, "1": 9},
        18,
    )


@pytest.mark.parametrize(
    ("labels", "names", "classes"),
    [
        ([0, 1, 1], [], {"0": 1, "1": 2}),
        ([0, 1, 1], ["x", "y"], {"x": 1, "y": 2}),
        (["y", "x", "x"], ["x", "y"], {"x": 2, "y": 1}),
        ([0.5, 1.5, 1.5], [], {}),
        ([0, 1, 7], ["x", "y"], {"x": 0, "y": 0}),  # which training refuses in its own words
        ([0, 1, -1], ["x", "y"], {"x": 0, "y": 0}),
    ],
)
def test_the_points_of_each_class_are_counted(
    tmp_path: Path, labels: list[Any], names: list[str], classes: dict[str, int]
) -> None:
    named = {"class_names": np.array(names)} if names else {}
    np.savez(tmp_path / "points.npz", X_train=np.eye(3), y_train=np.array(labels), **named)
    found = facts.facts_of(tmp_path / "points.npz", "points")
    assert (found["classes"], found["n_train"]) == (classes, 3)


def test_an_answer_to_changed_values_is_that_of_the_model(whole: Path) -> None:
    model, data = whole / "house" / "linear.npz", whole / "house" / "house.csv"
    found = figures(model, data)
    point, ranges = found["points"][0], found["ranges"]
    answer = what_if(model, point["x"], ranges)
    assert answer["said"] == point["said"]
    assert [len(strip) for strip in answer["strips"]] == [48] * len(ranges)
    for column, strip in enumerate(answer["strips"]):  # its ends are the answers there
        for end, said in zip(ranges[column], (strip[0], strip[-1]), strict=True):
            changed = [*point["x"][:column], end, *point["x"][column + 1 :]]
            assert what_if(model, changed, ranges)["said"] == said
    nan, D = float("nan"), len(ranges)
    for x, ends in (
        (None, ranges), ([], []), ([1.0], ranges), (["a"] * D, ranges), ([nan] * D, ranges),
        ([1.0] * D, [[0, nan]] * D), ([[1.0]] * D, ranges), ([1e300] * D, ranges),
    ):  # fmt: skip
        with pytest.raises(InputError):
            what_if(model, x, ends)
