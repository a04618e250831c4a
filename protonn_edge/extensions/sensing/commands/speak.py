"""``protonn-edge speak``: Make takes of words in many voices, from text."""

from __future__ import annotations

import math
import re
from pathlib import Path

import click

from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.options import FOLDER, FiniteRange
from protonn_edge.data.naming import check_names
from protonn_edge.extensions.sensing.speech.synthesizers import installed
from protonn_edge.extensions.sensing.speech.takes import OTHERS_A_VOICE, Studio, Vocabulary
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.system.checks import check_most
from protonn_edge.system.errors import InputError, shortened
from protonn_edge.system.files import write_together

_LIMIT_BYTES = 1 << 30  # of all takes

# A class is also the name of a folder, on any computer.
_TEXT = re.compile(r"[^\W_]+(?:[ '-][^\W_]+)*")


@command("speak", examples=('"lights on,lights off" -o words --background other',))
def speak_command(
    words: str = argument(str, metavar="WORDS"),
    output: Path = option("The folder of takes; it must be new, or empty.", FOLDER, required=True),
    speakers: int = option(
        "The number of speakers: voices, each with a manner and acoustics of its own.",
        click.IntRange(1, 10_000),
        shown=200,
    ),
    background: str | None = option(
        "A class of other words, two from each speaker.", metavar="CLASS"
    ),
    language: str = option("The language that the synthesizers speak, such as 'de'.", shown="en"),
    rate: int = option(
        "Samples per second, those of the board.", click.IntRange(2_000, 48_000), shown=8_000
    ),
    seconds: float = option(
        "The length of a take, or more; it must be longer than a window.",
        FiniteRange(0.2, 10.0),
        shown=1.0,
    ),
    seed: int = option("Seed of the speakers.", click.IntRange(0, 2**32 - 1), shown=0),
    out: Output = OUTPUT,
) -> None:
    """Say WORDS, separated by commas, and write a WAV file per take, in a folder per class.

    All synthesizers that are installed speak: espeak-ng, MBROLA, flite, festival, RHVoice and SVOX
    Pico. Pitch, speed, the speaker's size, the room, the microphone, noise and loudness are drawn
    at random for each speaker. 'windows' cuts the folder, with --onset. Add your own recordings to
    its folders.
    """
    said = _said(words, background)
    _check_empty(output)
    n_takes = speakers * (len(said.texts) + (background is not None) * OTHERS_A_VOICE)
    n_bytes = math.ceil(2 * n_takes * rate * seconds)
    check_most("the takes", n_bytes, _LIMIT_BYTES, "bytes", "give a smaller number of --speakers")
    studio = Studio(tuple(installed()), language, speakers, rate, seconds, seed)
    files: dict[str, bytes] = {}
    with out.progress("speakers", speakers) as bar:
        for takes in studio.takes(said):
            files |= takes
            bar.advance()
    counts = {name: sum(file.startswith(f"{name}/") for file in files) for name in said.classes}
    silent = next((name for name, count in counts.items() if not count), None)
    if silent is not None:
        raise InputError(
            f"no voice speaks {silent!r}; give words of the language {language!r}, or another "
            "--language"
        )
    write_together(output, files)
    programs = [synthesizer.program for synthesizer, _ in studio.voices]
    facts = [
        ("speakers", f"{speakers:,} by {', '.join(programs)}"),
        ("takes", f"{len(files):,} of {rate:,} samples a second"),
        ("classes", ", ".join(f"{name}: {count:,}" for name, count in counts.items())),
    ]
    out.say(f"{output}: {len(counts)} classes", fact_table(facts))
    record = {"folder": str(output), "synthesizers": programs, "n_of_class": counts, "rate": rate}
    out.finish(record)


def _said(words: str, background: str | None) -> Vocabulary:
    """Return what is to be said; `InputError` for words that no class can have as its name."""
    texts = tuple(" ".join(text.split()) for text in words.split(","))
    for text in (*texts, *(() if background is None else (background,))):
        if not _TEXT.fullmatch(text):
            raise InputError(
                f"WORDS has {shortened(repr(text))}; give words of letters and digits, separated "
                'by commas, such as "lights on,lights off"'
            )
    said = Vocabulary(texts, background)
    check_names([name.casefold() for name in said.classes], "WORDS", distinct=True)
    if len(said.classes) == 1:
        raise InputError("WORDS is a single class; give at least two words, or --background")
    return said


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or next(folder.iterdir(), None) is not None):
        raise InputError(f"{folder} is not an empty folder; choose another folder")
