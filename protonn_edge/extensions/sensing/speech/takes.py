"""Takes of words, as WAV files in a folder for each class, spoken by many voices.

All classes are spoken by the same voices in the same manner, so that nothing but the words
distinguishes them. Everything follows from the seed and the installed synthesizers.
"""

from __future__ import annotations

import io
import os
import wave
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sensing.speech.acoustics import Acoustics
from protonn_edge.extensions.sensing.speech.synthesizers import Manner, Sound, Synthesizer
from protonn_edge.system.errors import InputError

Voices: TypeAlias = Sequence[tuple[Synthesizer, Sequence[str]]]
"""The voices of each synthesizer."""

_PITCHES, _SPEEDS = (0.75, 1.3), (0.75, 1.35)
OTHERS_A_VOICE = 2
"""Words of the background that each speaker speaks."""

# Common words with many different sounds, which a board should not take for its own.
_OTHERS = (
    "about after again always apple army before better bird blue book bottle bridge "
    "brother castle chair circle city cloud coffee computer country danger daughter "
    "doctor dream earth engine evening family father finger fire fish flower forest "
    "friend garden glass green hammer happy heart horse house idea island jacket kitchen "
    "ladder letter library little machine marble middle minute money morning mother "
    "mountain music nature never number ocean orange paper people picture planet please "
    "purple question rabbit radio river school shadow silver sister spring square station "
    "summer table thunder tomorrow tree under village water weather welcome window winter "
    "wonder yellow yesterday "
)


@dataclass(frozen=True)
class Speaker:
    """A voice with a manner of its own; takes of the same speaker have the same name."""

    synthesizer: Synthesizer
    voice: str
    manner: Manner

    @classmethod
    def drawn(cls, voices: Voices, generator: np.random.Generator) -> Self:
        """Draw a synthesizer, one of its voices and a manner; all synthesizers are as likely."""
        synthesizer, names = voices[int(generator.integers(len(voices)))]
        manner = Manner(generator.uniform(*_PITCHES), generator.uniform(*_SPEEDS))
        return cls(synthesizer, str(generator.choice(names)), manner)


@dataclass(frozen=True)
class Vocabulary:
    """What to say: the text of each class, and the class of other words, if there is one."""

    texts: tuple[str, ...]
    background: str | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.texts if self.background is None else (*self.texts, self.background)

    def said_by(self, generator: np.random.Generator) -> Iterator[tuple[str, str]]:
        """Yield the classes and texts that one speaker speaks."""
        yield from zip(self.texts, self.texts, strict=True)
        if self.background is not None:
            known = {word for text in self.texts for word in text.lower().split()}
            others = [word for word in _OTHERS.split() if word not in known]
            for text in generator.choice(others, OTHERS_A_VOICE, replace=False).tolist():
                yield self.background, text


@dataclass(frozen=True)
class Studio:
    """How takes are made: the speakers' language, their number, and what a board samples."""

    synthesizers: tuple[Synthesizer, ...]
    language: str
    n_speakers: int
    rate: int
    least_s: float  # the length of a take, or more
    seed: int

    @cached_property
    def voices(self) -> Voices:
        """Return the voices of each synthesizer; `InputError` if none speaks the language."""
        listed = [(each, each.voices(self.language)) for each in self.synthesizers]
        found = [(synthesizer, names) for synthesizer, names in listed if names]
        if not found:
            programs = ", ".join(each.program for each in self.synthesizers)
            raise InputError(
                f"--language is {self.language!r}, but no voice of {programs} speaks it; give a "
                "language that they list, such as en or de"
            )
        return found

    def takes(self, words: Vocabulary) -> Iterator[dict[str, bytes]]:
        """Yield, for one speaker after another, WAV files by their names, such as ``on/7.wav``."""
        voices = self.voices
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            numbers = range(self.n_speakers)
            yield from pool.map(lambda number: self._of_speaker(number, voices, words), numbers)

    def _of_speaker(self, number: int, voices: Voices, words: Vocabulary) -> dict[str, bytes]:
        generator = np.random.default_rng([self.seed, number])
        speaker = Speaker.drawn(voices, generator)
        acoustics = Acoustics.drawn(self.rate, generator)
        labels, texts = zip(*words.said_by(generator), strict=True)
        said = speaker.synthesizer.say(texts, speaker.voice, speaker.manner)
        return {
            f"{label}/{number + 1}_{place}.wav": self._wave(sound, acoustics, generator)
            for place, (label, sound) in enumerate(zip(labels, said, strict=True), 1)
            if sound is not None
        }

    def _wave(self, said: Sound, acoustics: Acoustics, generator: np.random.Generator) -> bytes:
        return _as_wave(acoustics.heard(said, self.rate, self.least_s, generator), self.rate)


def _as_wave(samples: NDArray[np.int16], rate: int) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.astype("<i2").tobytes())
    return content.getvalue()
