"""The words of the page, which has buttons and fields for what sentences of commands advise."""

from __future__ import annotations

from protonn_edge.system.wording import Interface, options_in

PAGE = Interface(
    {
        "drop": "leave out",
        "keep": "use",
        "holdout": "test on",
        "test": "the share for testing",
        "window": "look at",
        "label": "the column to predict",
        "output": "the file",
        "hop": "the time between answers",
        "votes": "the windows of the mean",
        "mark": "the mark",
        "rate": "the samples a second",
    }
)


def names_in(sentence: str) -> str | None:
    """Return the pattern of file names that a sentence suggests."""
    return dict(options_in(sentence)).get("name")
