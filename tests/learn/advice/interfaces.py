"""What messages advise in Python, to an agent and in the page, done there.

Each interface reads the tables or recordings of the corpus, and then does what messages advise.
Extensions add their interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from extension_parts import additions
from laws.corpus.cases import some_cases
from learn.advice.following import Followed
from learn.advice.readers import Given, Reader, set_options

from protonn_edge.data.options import TableOptions, options_of_texts
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import COMMAND_LINE, PYTHON, speaking


def _in_python(path: Path, given: Given) -> tuple[bool, list[str]]:
    with speaking(COMMAND_LINE):
        try:
            return True, [each.text for each in load_dataset(path, **given).notices]
        except InputError as error:
            return False, [str(error)]


_KEYWORDS = {*vars(TableOptions()), "target"}
INTERFACES: dict[str, Reader] = {
    "python": Reader(PYTHON, _in_python, set_options, _KEYWORDS.__contains__),
    **additions("interfaces"),
}


def files(folder: Path, kind: str, every: int, part: int) -> Iterator[tuple[Path, TableOptions]]:
    """Yield what the corpus reads as a table, or as another kind, with options for reading.

    These are those of a part, one of so many cases.
    """
    for number, case in some_cases(every, part):
        readings = [each.filled(case._filled) for each in case.readings if each.reader == kind]
        if not readings:
            continue
        given = folder / str(number)
        given.mkdir()
        path = case.write(given)
        for reading in readings:
            file, texts = reading._named(path, folder)
            with suppress(InputError):  # of an option that is not for reading
                yield file, options_of_texts(texts)


def follow(reader: Reader, folder: Path, every: int, part: int) -> Iterator[Followed]:
    """Yield what comes of advice about files of a part of the corpus that an interface can read."""
    for path, options in files(folder, reader.kind, every, part):
        try:
            given = reader.given(options)
        except KeyError:
            continue
        yield from reader.follow(path, given)
