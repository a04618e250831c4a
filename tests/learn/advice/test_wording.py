"""Each interface says in its own words what errors and notices advise."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from learn.advice.interfaces import INTERFACES
from learn.advice.readers import TYPED

from protonn_edge.data.naming import Notice
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import COMMAND_LINE, Interface, speaking

PARTS = [*"'\"\\`();,:=x3\n ", "--drop", "--size", "; ", ", or ", "protonn-edge ", "-o", "28x28"]
LISTED = Path(__file__).parents[2] / "laws" / "sentences" / "sentences.txt"


@pytest.mark.parametrize(
    ("sentence", "worded"),
    [
        ("t has gaps; use --missing drop", "t has gaps; use missing='drop'"),
        (
            "t has text; leave it out with --drop 'a b',c",
            "t has text; leave it out with drop=['a b', 'c']",
        ),
        ("--size is 3; give --size HxW", "size is 3; give size=HxW"),
        (
            "images differ; scale them with --size 28x28",
            "images differ; scale them with size=(28, 28)",
        ),
        (
            "t is old; add a label, or give --label NAME",
            "t is old; add a label, or give label=NAME",
        ),
        ("p is there; remove it, or choose another one with -o", "p is there; remove it"),
        ("p is there; choose another one with -o", "p is there"),
        ("cut it with 'protonn-edge windows'", "cut it with 'protonn-edge windows'"),
        ("t is long; cut it with 'protonn-edge windows'", "t is long"),
        ("m is missing; give 'a --b', or --label 'it'\"'\"'s'", 'm is missing; label="it\'s"'),
        ("few points (hold none out with --holdout 0)", "few points"),
        ("'a' rises; --keep No. uses it", "'a' rises; keep=['No.'] uses it"),
        ("t has classes x-y and -5; try another", "t has classes x-y and -5; try another"),
    ],
)
def test_python_has_keywords_and_leaves_out_what_it_lacks(sentence: str, worded: str) -> None:
    assert str(InputError(sentence)) == worded
    assert Notice("kind", sentence).text == worded
    with speaking(COMMAND_LINE):
        assert str(InputError(sentence)) == Notice("kind", sentence).text == sentence


@pytest.mark.parametrize("name", INTERFACES)
def test_no_sentence_names_an_option_of_the_command_line_elsewhere(name: str) -> None:
    sentences = [line.strip() for line in LISTED.read_text("utf-8").splitlines()]
    words = INTERFACES[name].words
    shown = [words.worded(each) for each in sentences if "--pnn-" not in each]
    assert [each for each in shown if TYPED.search(each)] == []


def test_an_interface_with_a_shell_keeps_commands() -> None:
    words = Interface({"port": "--pnn-port"}, "{} {}".format, commands=None)
    sentence = "no board; run `protonn-edge build --port x`, or name it with --port"
    assert words.worded(sentence) == sentence.replace("with --port", "with --pnn-port")


@pytest.mark.parametrize("name", INTERFACES)
def test_a_hostile_name_in_a_sentence_does_no_harm(name: str) -> None:
    some = random.Random(0)
    for _ in range(3_000):
        parts = some.choices(PARTS, k=some.randrange(1, 18))
        assert INTERFACES[name].words.worded("".join(parts)) is not None
