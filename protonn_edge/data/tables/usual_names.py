"""Usual names, in lower case, of columns that are not measured."""

from __future__ import annotations

import re

from protonn_edge.data.units import split_unit

LABEL_NAMES = (
    *("label", "class", "target", "klasse", "classe", "clase", "etiqueta", "étiquette", "klasa"),
    *("etichetta", "rótulo", "etykieta", "класс", "метка", "标签", "类别", "ラベル", "クラス"),
)
"""In English first, which messages list, and in other languages."""
TIME = re.compile(
    r"s|ms|[uµμ]s|ns|sec(ond)?s?|milli(second)?s?|micro(second)?s?|times?|epoch|"
    r"(seconds?|time)_?elapsed|elapsed(_?(seconds?|time|s|ms))?|"
    r"(t|time|date|time_?stamp|date_?time|unix_?time)(_?(s|ms|us|ns))?"
)
ID = "[_ -]?(id|nr|no|number|nummer)"
PERSON = re.compile(rf"(subject|person|user|participant|patient)({ID})?")
SESSION = re.compile(rf"{PERSON.pattern}|(session|recording|take|group)({ID})?")
DEVICES = ("machine", "maschine", "device", "gerät")
DEVICE = re.compile(rf"({'|'.join(DEVICES)})({ID})?|(maschinen|geräte|sensor|unit|asset){ID}")
SENSOR = re.compile(
    r"(.*[_\-. ])?(acc(el(eration|erometer)?)?|gyro?(scope)?|mag(netic|netometer)?|baro(meter)?|"
    r"hum(idity)?|temp(erature)?|light|mic(rophone)?|gravity|orientation|emg|ecg|ppg|gsr|eda)"
    r"([_\-. ].*)?"
)
"""A kind of sensor, as the second group."""
PART = re.compile(
    r"(cv[ _-]?)?folds?|split|(data)?set|subset|partition|(is|in)[ _-]?(train|test)(ing)?"
)
"""Of a column of few whole numbers that divides the rows for training and testing."""
ANSWER = re.compile(r"(predicted_(class|value|labels|low|high)|confidence_percent)(_\d+)?")
"""What `protonn-edge predict` adds to a table."""
INDEX = re.compile(
    r"|unnamed(: ?\d+)?|index|idx|.*(#|\bid|_id|nr|no|num|number|nummer|count|counter)\.?|"
    r"(n|row|sample|point|instance)s?|id"
)


def is_called_as_time(name: str) -> bool:
    """Return whether a name is usual for a time."""
    bare, unit = split_unit(name.lower())
    # ``t (s)`` is a time, ``t (C)`` a temperature
    return TIME.fullmatch(unit if unit and len(bare) == 1 else bare) is not None
