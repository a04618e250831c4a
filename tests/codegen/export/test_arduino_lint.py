"""An exported library keeps the rules of Arduino Lint, each by its number.

Left out are those that ask the network or a registry (LP017, LP018, LP042), that are for official
libraries (LP013), and that are about fields and folders which an export has not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arduino_ide import export_for_uno
from checkout import CHECKOUT
from extension_parts import additions
from model_factory import random_model, random_window_model, window_features_of

from protonn_edge.model.policy import with_rules
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.policy.value.rule import Value
from protonn_edge.system.errors import InputError

CATEGORIES = (
    "Display|Communication|Signal Input/Output|Sensors|Device Control|Timing|Data Storage|"
    "Data Processing|Other"
)
FIELDS = {
    "name": r"(?!.*(?i:arduino|library))[A-Za-z][A-Za-z0-9_.-]{0,31}",  # LP009 to 12, 14 to 16
    "version": r"((0|[1-9]\d*)\.){2}(0|[1-9]\d*)",  # LP020, LP021
    "author": ".+",
    "maintainer": "(?!.*(?i:arduino)).+",  # LP027, LP057
    "sentence": ".+",
    "paragraph": ".+",
    "category": CATEGORIES,  # LP038, LP039
    "url": r"https://[a-z.]+/\S*",  # LP041
    "architectures": r"\*",  # LP045, LP046
    "includes": ".+",
}
"""What each field of library.properties must match."""


@pytest.fixture(scope="module", params=["digits", "My Arduino-library 3.1"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an export with a plain name and one with a wish that the rules forbid."""
    folder = tmp_path_factory.mktemp("libraries") / "digits"
    export_for_uno(random_model(), "arduino", folder, name=request.param)
    return folder


@pytest.fixture(scope="module")
def properties(library: Path) -> dict[str, str]:
    """Return the fields of library.properties (LP001 to LP005: it is there and is read)."""
    lines = (library / "library.properties").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z]+=.*", line) for line in lines)
    return dict(line.split("=", 1) for line in lines)


def test_library_properties_has_its_fields_once_and_none_is_blank(library, properties):
    """LP004, LP006, LP007, LP008, LP019, LP023 to LP026, LP031, LP032, LP034, LP037, LP040, LP043,
    LP044, LP051, LP056."""
    assert list(properties) == list(FIELDS)
    assert [name for name in FIELDS if not re.fullmatch(FIELDS[name], properties[name])] == []
    assert len((library / "library.properties").read_text().splitlines()) == len(FIELDS)


def test_the_paragraph_does_not_repeat_the_sentence(properties):
    """LP036."""
    assert not properties["paragraph"].startswith(properties["sentence"])


def test_included_headers_are_in_src_and_have_the_librarys_name(library, properties):
    """LS001, LS008, LS009, LP052."""
    assert properties["includes"] == f"{properties['name']}.h"
    assert (library / "src" / properties["includes"]).is_file()


def test_the_folder_holds_nothing_that_blocks_it(library):
    """LS004, LS005, LS006, LS007, LS010, LS011, LS012, LD003."""
    paths = [*library.rglob("*")]
    assert not [path for path in paths if path.is_symlink() or path.suffix.lower() == ".exe"]
    assert {path.name for path in library.iterdir()} == {
        "CMakeLists.txt", "LICENSE", "README.md", "examples", "extras", "idf_component.yml",
        "keywords.txt", "library.properties", "src", "zephyr", ".protonn-edge-export",
    }  # fmt: skip
    assert all(path.is_file() for path in (library / "src").iterdir())


@pytest.mark.parametrize("name", ["two words", "-digits", "digits!", "höhe", "d" * 64])
def test_a_folder_that_the_tools_would_not_take_is_refused(tmp_path, name):
    """LS002, LS003."""
    with pytest.raises(InputError, match="letters, digits"):
        export_for_uno(random_model(), "arduino", tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_arduino_h_is_spelled_as_it_is(library):
    """LC001."""
    for path in library.rglob("*.[chi]*"):
        if path.is_file():
            found = re.findall(r"#\s*include\s*[<\"](arduino\.h)[>\"]", path.read_text(), re.I)
            assert set(found) <= {"Arduino.h"}


def test_readme_license_and_examples_are_there(library):
    """LD001, LD002, LD004, LD005, LD006."""
    assert (library / "README.md").read_text().startswith("# ")
    assert (library / "LICENSE").read_text() == (CHECKOUT / "LICENSE").read_text()
    assert {path.name for path in (library / "examples").iterdir()} - {"Measure"} == {
        "Blink", "Classify", "SelfTest", "Stream",
    }  # fmt: skip


def test_sketches_have_the_names_of_their_folders(library):
    """SS001, SS002, SS003, SS004, SS005."""
    for folder in (library / "examples").iterdir():
        assert [path.name for path in folder.glob("*.ino")] == [f"{folder.name}.ino"]
        assert re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,62}", folder.name)


@pytest.mark.parametrize(
    "model",
    [
        random_window_model(window_features_of("mean,max", 20, 2)),
        with_rules(random_model(), Sharpness(1.0)),
        with_rules(random_model(classes=1), Value(2.0, 20.0, 1, 0.5)),
        *(made() for made in additions("exported models").values()),
    ],
    ids=["windows", "calibrated", "value", *additions("exported models")],
)
def test_all_functions_and_sizes_are_keywords(tmp_path, model):
    export_for_uno(model, "arduino", tmp_path / "library")
    header = (tmp_path / "library" / "src" / "pnn_model.h").read_text()
    functions = re.findall(r"^[a-z][\w ]*[ *](pnn_\w+)\(", header, re.M)
    sizes = re.findall(
        r"^#define (PNN_(?:WINDOW|CHANNELS|FEATURES|CLASSES|PROTOTYPES|VALUE_\w+)) ", header, re.M
    )
    keywords = (tmp_path / "library" / "keywords.txt").read_text()
    assert {"pnn_predict", "pnn_finish"} <= set(functions)
    assert not [name for name in (*functions, *sizes) if f"\n{name}\t" not in keywords]


def test_keywords_are_separated_by_tabs(library):
    """Of the library specification: a word, one tab, its kind; spaces would leave it uncoloured."""
    lines = (library / "keywords.txt").read_text().splitlines()
    words = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert all(len(word) == 2 and " " not in word[0] for word in words)
    assert {kind for _, kind in words} == {"KEYWORD1", "KEYWORD2", "LITERAL1"}
    declared = "".join(path.read_text() for path in (library / "src").glob("*.h"))
    for word, _ in words[1:]:  # after the library's name
        assert re.search(rf"\b{word}\b", declared), word
    assert len({word for word, _ in words}) == len(words)
