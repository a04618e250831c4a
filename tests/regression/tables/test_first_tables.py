"""Tables as people have them are read as they are meant, or refused with what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from flower_tables import NAMES, Flowers, Write
from refusals import refused_by, refuses

from protonn_edge.chain.file import load_model
from protonn_edge.datasets import TableOptions, load_dataset
from protonn_edge.datasets.tables import delimiter_in
from protonn_edge.errors import InputError

CODES = {"setosa": 0, "versicolor": 1, "virginica": 2}
QUICK = ("--epochs", 1, "--projection-dim", 2, "--prototypes", 3)


def texts(path: Path) -> list[str]:
    """Return what is noticed about a file."""
    return [str(notice) for notice in load_dataset(path).notices]


def assert_whole(path: Path, classes: tuple[str, ...], *said: str) -> None:
    """Check that all features and these classes are read, and that something is said of it."""
    dataset = load_dataset(path)
    assert dataset.X_train.shape == (150, 4)
    assert dataset.X_train.max() == pytest.approx(7.9)
    assert dataset.classes == classes
    everything = "\n".join(map(str, dataset.notices))
    for words in said:
        assert words in everything


def test_a_whole_number_in_the_last_column_is_the_label(write: Write, flowers: Flowers) -> None:
    path = write([[*x, CODES[name]] for x, name in flowers])
    assert_whole(path, ("0", "1", "2"), "the labels are in column 5, the last one")


def test_text_in_the_last_column_is_the_label(write: Write, flowers: Flowers) -> None:
    path = write([[*x, name] for x, name in flowers])
    assert_whole(path, tuple(CODES), "the labels are in column 5, the last one")


@pytest.mark.parametrize(("name", "value"), [("", "1"), ("kind", "kind")])
def test_a_label_in_another_column_is_asked_for_with_the_candidates(
    write: Write, flowers: Flowers, name: str, value: str
) -> None:
    header = [name, *NAMES] if name else []
    path = write([[CODES[kind], *x] for x, kind in flowers], header)
    with pytest.raises(
        InputError,
        match=f"contains numbers such as .* instead of.* such as --read label={value}, or",
    ):
        load_dataset(path)
    dataset = load_dataset(path, TableOptions(label=value))
    assert (dataset.X_train.shape, dataset.classes) == ((150, 4), ("0", "1", "2"))


def test_where_the_first_is_possible_too_it_is_named(write: Write, flowers: Flowers) -> None:
    rows = [[row % 7, *x, CODES[name]] for row, (x, name) in enumerate(flowers)]
    path = write(rows)
    assert load_dataset(path).classes == ("0", "1", "2")
    (said,) = texts(path)
    assert said.startswith("warning: the labels are in column 6, the last one")
    assert "--read label=first" in said
    assert load_dataset(path, TableOptions(label="first")).n_classes == 7


def test_pixels_after_a_label_are_taken_for_it_with_a_warning(write: Write) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 2, (200, 9))
    path = write([[row * 7 % 10, *pixels[row]] for row in range(200)])
    assert texts(path)[0].startswith(
        "warning: the labels are in column 10, the last one; if the first"
    )
    assert load_dataset(path, TableOptions(label="first")).n_classes == 10


@pytest.mark.parametrize("name", ["species", "y", "activity", "kind of flower"])
def test_a_column_of_labels_may_have_another_name(
    write: Write, flowers: Flowers, name: str
) -> None:
    path = write([[*x, kind] for x, kind in flowers], [*NAMES, name])
    assert_whole(path, tuple(CODES), f"the labels are in column '{name}'")


@pytest.mark.parametrize("header", [NAMES, ("label", *NAMES[1:])])
def test_measurements_are_refused_as_labels(
    write: Write, flowers: Flowers, header: tuple[str, ...]
) -> None:
    path = write([x for x, _ in flowers], header)
    sentence = refusal(run("train", path, "-o", path.with_name("m.npz")))
    assert "instead of classes" in sentence
    assert "--read label" in sentence
    assert not path.with_name("m.npz").exists()


def test_measurements_without_a_header_are_refused_as_labels(
    write: Write, flowers: Flowers
) -> None:
    with refused_by("datasets.roles"):
        load_dataset(write([x for x, _ in flowers]))


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "id", "sample", "Row Nr.", "PassengerId"])
def test_an_index_is_left_out(write: Write, flowers: Flowers, name: str) -> None:
    rows = [[row, *x, kind] for row, (x, kind) in enumerate(flowers)]
    path = write(rows, [name, *NAMES, "label"])
    title = f"'{name}'" if name else "1"
    assert_whole(path, tuple(CODES), f"left out: column {title}, ", "rises by about 1 from row")
    assert load_dataset(path).feature_names == NAMES


def test_an_index_without_a_header_is_left_out(write: Write, flowers: Flowers) -> None:
    path = write([[row, *x, kind] for row, (x, kind) in enumerate(flowers)])
    assert_whole(path, tuple(CODES), "left out: column 1, it rises by about 1 from row to row")


def test_a_column_with_another_name_that_counts_is_left_out_with_a_warning(
    write: Write, flowers: Flowers
) -> None:
    path = write([[row, *x, kind] for row, (x, kind) in enumerate(flowers)], ["cm", *NAMES, "kind"])
    dataset = load_dataset(path)
    assert dataset.feature_names == NAMES
    (notice,) = (each for each in dataset.notices if each.kind == "left_out")
    assert str(notice) == (
        "warning: left out: column 'cm', it rises by about 1 from row to row, as a time or counter "
        "does; --read keep=cm uses it"
    )
    assert load_dataset(path, keep="cm").feature_names == ("cm", *NAMES)


@pytest.mark.parametrize("forms", [("True", "False"), ("TRUE", "FALSE"), (" true", "false")])
def test_columns_of_truths_are_ones_and_zeros(write: Write, forms: tuple[str, str]) -> None:
    rows = [[row * 7 % 11 / 2, forms[row % 3 > 0], forms[row % 2]] for row in range(30)]
    path = write(rows, ["size", "open", "label"])
    dataset = load_dataset(path)
    assert dataset.feature_names == ("size", "open")
    assert dataset.X_train[:, 1].tolist() == [float(row % 3 == 0) for row in range(30)]
    assert dataset.classes == tuple(sorted(form.strip() for form in forms))
    only = load_dataset(path, TableOptions(one_hot=("open",)))
    assert only.n_features == 3


def test_a_truth_among_numbers_is_refused(write: Write) -> None:
    rows = [[row * 7 % 11 / 2, row % 2] for row in range(30)]
    rows[7][0] = True
    with refused_by("datasets.points"):
        load_dataset(write(rows, ["size", "label"]))


def test_a_counter_alone_is_a_feature_only_if_it_is_kept(write: Write) -> None:
    path = write([[i % 2, i] for i in range(40)], ["label", "a"])
    with pytest.raises(InputError, match=r"has no column of features besides .* or keep"):
        load_dataset(path)
    assert load_dataset(path, keep="a").X_train.shape == (40, 1)


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("timestamp", "{row}.5"),
        ("ts", "{row}"),
        ("when", "2024-01-01 00:00:{second:02d}"),
        ("Zeit", "01.02.2024 10:00:{second:02d}"),
    ],
)
def test_a_time_is_left_out(write: Write, flowers: Flowers, name: str, moment: str) -> None:
    rows = [
        [moment.format(row=row * 20, second=row % 60), *x, kind]
        for row, (x, kind) in enumerate(flowers)
    ]
    path = write(rows, [name, *NAMES, "label"])
    assert_whole(path, tuple(CODES), f"left out: column '{name}', a time (")


def test_a_temperature_called_t_is_a_feature(write: Write) -> None:
    path = write([["ab"[i % 2], 20 + i % 5] for i in range(40)], ["label", "t"])
    assert load_dataset(path).feature_names == ("t",)


def test_other_text_is_left_out_with_the_option_that_helps(write: Write, flowers: Flowers) -> None:
    rows = [[("red", "green")[row % 2], *x, kind] for row, (x, kind) in enumerate(flowers)]
    path = write(rows, ["colour", *NAMES, "label"])
    record = run_json("data", path)
    assert record["n_features"] == 4
    said = [notice["text"] for notice in record["notices"]]
    assert said == ["left out: column 'colour', text; --read one-hot=colour turns it into features"]
    assert run_json("data", path, "--read", "one-hot=colour")["n_features"] == 6


def test_text_that_may_be_the_label_is_refused_with_the_option_that_helps(write: Write) -> None:
    rows = [[("red", "green")[row % 2], "ab"[row % 2], 0.5 * row, row % 3] for row in range(30)]
    path = write(rows, ["colour", "kind", "size", "count"])
    refuses(run("train", path, "-o", path.with_name("m.npz")), "datasets.roles")


def test_columns_are_chosen_by_name_or_number(write: Write, flowers: Flowers) -> None:
    rows = [[7, "x", *x, kind, CODES[kind]] for x, kind in flowers]
    path = write(rows, ["seven", "note", *NAMES, "kind", "code"])
    for label, drop in (("kind", "note,code,seven"), ("7", "1,2,last"), ("7", "note,8,first")):
        record = run_json("data", path, "--read", f"label={label}", "--read", f"drop={drop}")
        assert [each["name"] for each in record["classes"]] == list(CODES)
        assert [each["name"] for each in record["features"]] == list(NAMES)
    for flag in ("label", "drop"):
        assert f"--read {flag} is 'colour', which is not a column" in refusal(
            run("data", path, "--read", f"{flag}=colour")
        )


def test_one_of_several_columns_of_text_is_dropped(write: Write, flowers: Flowers) -> None:
    rows = [[("red", "green")[row % 2], *x, kind] for row, (x, kind) in enumerate(flowers)]
    path = write(rows, ["colour", *NAMES, "kind"])
    assert load_dataset(path).classes == tuple(CODES)
    assert load_dataset(path, TableOptions(drop=("colour",))).classes == tuple(CODES)
    with pytest.raises(
        InputError, match="column 'colour', the label; add one, or change --read label, drop"
    ):
        load_dataset(path, label="colour", drop=[*NAMES, "kind"])


@pytest.mark.parametrize(
    ("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "pipes")]
)
@pytest.mark.parametrize("comma", [False, True])
@pytest.mark.parametrize("header", [(), (*NAMES, "species")])
def test_other_delimiters_and_decimal_commas_are_recognized(
    write: Write, flowers: Flowers, delimiter: str, word: str, comma: bool, header: tuple[str, ...]
) -> None:
    rows = [[*(str(v).replace(".", ",") if comma else v for v in x), kind] for x, kind in flowers]
    path = write(rows, header, delimiter=delimiter)
    said = [f"columns are separated by {word}"] + ["decimal commas"] * comma
    assert_whole(path, tuple(CODES), *said)


def test_decimal_commas_and_points_are_not_mixed(write: Write) -> None:
    rows = [[f"{i},5", "ab"[i % 2]] for i in range(30)] + [["1.234,5", "a"], ["1.5", "a"]]
    with refused_by("datasets.points"):
        load_dataset(write(rows, delimiter=";"))


def test_a_delimiter_may_be_given(write: Write, flowers: Flowers) -> None:
    path = write([[*x, kind] for x, kind in flowers], delimiter=" ")
    assert run_json("data", path, "--read", "delimiter=space")["n_features"] == 4
    assert "the delimiter is '#'" in refusal(run("data", path, "--read", "delimiter=#"))


def test_columns_that_only_count_are_a_header(write: Write, flowers: Flowers) -> None:
    path = write([[*x, kind] for x, kind in flowers], ["0", "1", "2", "3", "species"])
    assert_whole(path, tuple(CODES))


def test_keras_names_are_read(tmp_path: Path) -> None:
    X = np.arange(48, dtype=np.uint8).reshape(12, 2, 2)
    y = np.arange(12) % 2
    np.savez(tmp_path / "d.npz", x_train=X, y_train=y, x_test=X[:4], y_test=y[:4])
    dataset = load_dataset(tmp_path / "d.npz")
    assert (dataset.X_train.shape, dataset.X_test.shape) == ((12, 4), (4, 4))


def test_an_array_of_objects_is_refused_with_what_to_save(tmp_path: Path) -> None:
    labels = np.array(["a", "b"] * 6, dtype=object)
    np.savez(tmp_path / "d.npz", X=np.eye(12), y=labels)
    with refused_by("datasets.archive"):
        load_dataset(tmp_path / "d.npz")


def test_defaults_suit_small_data(write: Write, flowers: Flowers) -> None:
    few = [next(each for each in flowers if each[1] == kind) for kind in CODES] + flowers[:4]
    path, model = write([[kind, *x] for x, kind in few], ["label", *NAMES]), "m.npz"
    words = ("train", path, "-o", path.with_name(model), "--holdout", 0)
    succeed(*words, "--epochs", 1)
    assert load_model(path.with_name(model)).head.n_prototypes == 12
    asked = run(*words, "--prototypes", 40)
    assert "--prototypes is 40, but the data has only 7 training points" in refusal(asked)


def test_a_class_of_one_point_is_named(write: Write) -> None:
    rows = [[("open", "closed")[i % 2], i * 37 % 11, i * i % 7] for i in range(60)]
    path = write([*rows, ["pen", 3, 2]], ["label", "a", "b"])
    assert "warning: class 'pen' has only 1 point; this label may be a typo" in texts(path)


def test_a_constant_column_is_named(write: Write, flowers: Flowers) -> None:
    path = write([[kind, *x, 5] for x, kind in flowers], ["label", *NAMES, "five"])
    assert "warning: 1 of 5 features never vary in the training points: 'five'" in texts(path)


def test_train_prints_classes_and_ranges(write: Write, flowers: Flowers) -> None:
    path = write([[*x, kind] for x, kind in flowers], [*NAMES, "species"])
    done = succeed("train", path, "-o", path.with_name("m.npz"), *QUICK)
    assert "setosa: 40 + 10, versicolor: 40 + 10, virginica: 40 + 10" in done.stdout
    assert "sepal length: 4." in done.stdout
    assert "the labels are in column 'species'" in done.stderr
    record = run_json("train", path, "-o", path.with_name("m.npz"), *QUICK)
    assert record["data"]["classes"] == dict.fromkeys(CODES, 40)
    assert record["notices"][0]["columns"] == ["species"]


def test_data_says_how_a_file_is_read(write: Write, flowers: Flowers) -> None:
    rows = [[row, *x, kind] for row, (x, kind) in enumerate(flowers)]
    record = run_json("data", write(rows, ["", *NAMES, "species"], delimiter=";"))
    assert record["table"] == {
        "delimiter": ";",
        "header": True,
        "decimal_comma": False,
        "label": "column 'species'",
        "label_found": "the last one",
        "left_out": ["column 1"],
        "session": "",
        "time": "",
        "rules": {
            "delimiter": "semicolons, found in the first lines",
            "header": "the first row, because no cell is a number",
            "label": "column 'species', the last one",
            "features": "4 columns; left out: column 1 (index)",
            "missing": "nothing",
        },
    }
    assert record["features"][0] == {
        "name": "sepal length",
        "minimum": pytest.approx(4.3),
        "maximum": pytest.approx(7.9),
        "decimals": 1,
    }
    assert record["repeated"] == {"in_train": 1, "contradicting": 0, "in_test": 0}
    assert [notice["kind"] for notice in record["notices"]] == ["delimiter", "left_out", "label"]


def test_options_of_tables_are_refused_for_other_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", X=np.eye(4), y=np.arange(4) % 2)
    refuses(run("data", tmp_path / "d.npz", "--read", "label=y"), "datasets.reading")


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("a;b,c|d", ";"), ("a\tb;c", "\t"), ('"a;b",c', ","), ("1,5|2", "|"), ("alone", ",")],
)
def test_the_delimiter_is_the_first_that_divides_most_lines_alike(
    line: str, delimiter: str
) -> None:
    assert delimiter_in([line, "a;b,c", line], ",") == delimiter


def test_a_column_without_values_is_left_out_and_a_gap_is_refused(write: Write) -> None:
    rows = [[7 * i % 11, i * i % 7, "", "ab"[i % 2]] for i in range(9)]
    path = write(rows, ["n", "square", "note", "kind"])
    record = run_json("data", path)
    assert record["n_features"] == 2
    assert record["table"]["rules"]["missing"] == "all of column 'note'"
    path = write([*rows, [1, "", "", "a"]], ["n", "square", "note", "kind"])
    sentence = refusal(run("train", path, "-o", path.with_name("m.npz")))
    assert "data.csv:11 has '' in column 'square'" in sentence
    missing = {each["name"]: each["missing"] for each in run_json("data", path)["columns"]}
    assert missing == {"n": 0, "square": 1, "note": 10, "kind": 0}


def test_the_label_is_the_last_column_without_another_role(write: Write) -> None:
    rows = [[3 * i % 7, "ab"[i % 2], "anna", i, ""] for i in range(12)]
    dataset = load_dataset(write(rows, ["x", "kind", "person", "ms", ""]))
    assert (dataset.classes, dataset.feature_names) == (("a", "b"), ("x",))


def test_a_few_fractions_are_labels_only_if_they_are_named(write: Write) -> None:
    path = write(
        [["ab"[i % 2], 7 * i % 11, i % 3 + 0.5] for i in range(30)], ["kind", "x", "level"]
    )
    with pytest.raises(
        InputError,
        match="such as 0.5 instead of classes; name the column of labels with --read label=NAME,",
    ):
        load_dataset(path, TableOptions(drop=("kind",)))
    named = load_dataset(path, TableOptions(label="level", drop=("kind",)))
    assert named.classes == ("0.5", "1.5", "2.5")
