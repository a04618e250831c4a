"""The check of words reads what people read, and nothing else."""

from __future__ import annotations

import pytest
from prose import VOCABULARY, findings, vocabulary

WORDS = vocabulary("# a comment\n\n(is|are) told -> printed\nanew -> again\n")
PYTHON = '''
"""The user is
told."""
anew = 1  # counts anew
raise ValueError("started `anew` " f"{1 + 1} is " "told")
'''


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "a.py",
            PYTHON,
            [
                "2: 'is told': better: printed",
                "5: 'is told': better: printed",
                "4: 'anew': better: again",
            ],
        ),
        ("a.md", "*anew*\n\n`anew`\n```\nanew\n```\n", ["1: 'anew': better: again"]),
        (
            "a.h",
            "int anew; /* is\n * told */\n// anew\n",
            ["1: 'is * told': better: printed", "3: 'anew': better: again"],
        ),
        ("a.c.j2", "{{ anew }}\n{# anew #}\n", ["2: 'anew': better: again"]),
        ("a.html.j2", "<a\nid='anew'>anew</a>\n<style>anew</style>", ["2: 'anew': better: again"]),
    ],
)
def test_words_are_found_where_people_read_them(name: str, text: str, found: list[str]):
    assert list(findings(name, text, WORDS)) == [f"{name}:{line}" for line in found]


def test_the_vocabulary_is_well_formed():
    words = vocabulary(VOCABULARY.read_text("utf-8"))
    assert all(words.values())
    assert not [bad.pattern for bad, better in words.items() if bad.search(better)]
