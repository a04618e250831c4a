"""Names of classes that are probably mistakes: typos, lists of others, and too many of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.system.errors import counted

_JUDGED_POINTS = 20  # with fewer points, most may have different classes
_MANY_NUMBERS = 20  # classes that are whole numbers
_WHOLE = re.compile(r"-?\d+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-_]+(?=[^\W\d_])")  # between letters
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")
_LONG = 4  # letters
_STOPS = ".,;:!"
_SYNONYMS = {"true": "1", "false": "0", "y": "yes", "n": "no", "j": "ja"}
_LETTERS_AS_DIGITS = str.maketrans("OoIl", "0011")
_LISTED = re.compile(r"[;,|]")  # between labels
_QUOTES = "'\"“”„«»"
_FEW_POINTS = 3  # of a class whose name may be a typo,
_FREQUENT = 5  # if a class with this many times as many points has a similar name


def about_spelling(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about classes whose names differ only in how they are written."""
    spelled: dict[str, list[str]] = {}
    letters = [name for name in dataset.classes if not _WHOLE.fullmatch(name)]
    digits = {name: name.translate(_LETTERS_AS_DIGITS) for name in letters}
    if not {*digits.values()} <= {*dataset.classes}.difference(letters):  # letters are classes, too
        digits = {}
    for name in dataset.classes:
        spelled.setdefault(_spelling(digits.get(name, name)), []).append(name)
    alike = [names for names in spelled.values() if len(names) > 1]
    if alike:
        text = (
            f"classes whose names differ only in how they are written: "
            f"{'; '.join(map(listed, alike))}; these may be typos"
        )
        yield Notice("spelling", text, warning=True)


def about_lists(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about classes such as ``a;b``, which stand for several others."""
    classes = dataset.classes
    parts = {name: [part.strip() for part in _LISTED.split(name)] for name in classes}
    found = [name for name, each in parts.items() if each[1:] and {*each} <= {*classes}]
    if found:
        text = (
            f"classes that are lists of other classes: {listed(found)}; points with several "
            "labels need a matrix of zeros and ones in an .npz file"
        )
        yield Notice("lists", text, warning=True)


def _spelling(name: str) -> str:
    """Return what is left without case, blanks, hyphens, quotes, stops, and ways to write numbers.

    Longer names in Latin letters lose their accents, too; a letter with one is another letter.
    """
    text = "".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(_QUOTES)
    if len(text) >= _LONG:
        text = _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text)
    text = text.rstrip(_STOPS) or text
    text = _SYNONYMS.get(text, text)
    try:
        return repr(float(text))
    except ValueError:
        return _HYPHEN.sub("", text)


def about_counts(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about too many classes, and about classes of few points."""
    n, classes = dataset.y_train.shape[0], dataset.n_classes
    if dataset.y_train.ndim != 1 or n <= _JUDGED_POINTS:
        return  # no classes, or few points
    if classes > _MANY_NUMBERS and all(map(_WHOLE.fullmatch, dataset.classes)):
        text = f"there are {classes:,} whole numbers as labels, which may be a quantity or classes"
        yield Notice("quantity", text, warning=True)
        return
    if 2 * classes > n:
        text = f"there are {classes:,} classes for {n:,} points; the labels may be measurements"
        yield Notice("many_classes", text, warning=True)
        return
    counts = np.bincount(dataset.y_train, minlength=classes)
    single = [dataset.classes[index] for index in np.flatnonzero(counts == 1)]
    text = f"{len(single)} classes have only 1 point each ({listed(single)}); these may be typos"
    if len(single) == 1:
        text = f"class {listed(single)} has only 1 point; this label may be a typo"
    if single:
        yield Notice("rare_class", text, warning=True)
    yield from _about_misspelt(dataset.classes, counts)


def _about_misspelt(classes: Sequence[str], counts: NDArray[np.intp]) -> Iterator[Notice]:
    """Yield a warning for each class of few points whose name resembles a frequent class's."""
    for index in np.flatnonzero(counts <= _FEW_POINTS).tolist():
        name, letters = classes[index], _letters(classes[index])
        frequent = np.flatnonzero(counts >= _FREQUENT * counts[index]).tolist()
        others = [classes[i] for i in frequent if _letters(classes[i]) != letters]
        by_lower = {each.lower(): each for each in others}
        for near in get_close_matches(name.lower(), by_lower, n=1):
            points = counted(int(counts[index]), "point")
            text = f"class {quoted(name)} has only {points}; did you mean {quoted(by_lower[near])}?"
            yield Notice("spelling", text, warning=True)


def _letters(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalpha())
