"""Programs that speak text: those that are installed, and the voices that each of them has.

A program is started for each word, or once for all words of a speaker if it takes long to start,
and never part of this package. It reads the word from a file or within a tag, so no word is taken
for an option, and writes a WAV file.
"""

from __future__ import annotations

import shutil
import wave
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.toolchain.process import run_within
from protonn_edge.system.errors import CheckFailed, InputError
from protonn_edge.system.folders import scratch_folder

_DEADLINE_S = 30.0
_LEAST_SAMPLES = 800
_ESPEAK = "espeak-ng"
_OF_MBROLA = "mb/"  # what the files of its voices begin with, in the table of espeak-ng


class Manner(NamedTuple):
    """How a voice speaks, in relation to its usual manner."""

    pitch: float = 1.0
    speed: float = 1.0


class Sound(NamedTuple):
    """Samples of one channel, (n,), and their number a second."""

    samples: NDArray[np.float64]
    rate: float


class Synthesizer(ABC):
    """A program that speaks text."""

    program: ClassVar[str]
    package: ClassVar[str]  # of Debian

    @property
    def is_installed(self) -> bool:
        """Whether the program is there."""
        return shutil.which(self.program) is not None

    @abstractmethod
    def voices(self, language: str) -> Sequence[str]:
        """Return the voices for a language such as ``en``, or for a dialect such as ``en-gb``."""

    @abstractmethod
    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        """Return the words that make the program speak a file of text into a WAV file."""

    def commands(
        self, files: Sequence[tuple[Path, Path]], voice: str, manner: Manner
    ) -> list[list[str]]:
        """Return the commands that speak files of text, each with the WAV file to write."""
        return [self.command(text, sound, voice, manner) for text, sound in files]

    def say(self, texts: Sequence[str], voice: str, manner: Manner) -> list[Sound | None]:
        """Return texts as this voice speaks them, None for each that it cannot.

        Raises `CheckFailed` if the program fails, or takes too long.
        """
        with scratch_folder() as folder:
            files = [(folder / f"{n}.txt", folder / f"{n}.wav") for n in range(len(texts))]
            for (source, _), text in zip(files, texts, strict=True):
                source.write_text(text + "\n", "utf-8")
            for command in self.commands(files, voice, manner):
                self._run(command)
            return [_read(target) for _, target in files]

    def _run(self, command: list[str]) -> str:
        done = run_within(_DEADLINE_S, command, name=self.program)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1:] or ["no reason"]
            raise CheckFailed(f"{self.program} failed ({said[0]}); install it again")
        return done.stdout


class _ESpeak(Synthesizer):
    program = package = _ESPEAK
    _PITCH, _SPEED = 50, 160  # its scale from 0 to 99; words a minute
    _EFFECTS = ("robo", "uni", "demonic", "whisper", "storm", "croak", "tweaky", "announcer")

    def voices(self, language: str) -> Sequence[str]:
        dialects = [
            row[1]
            for row in self._table(language)
            if row[1].startswith(language) and not row[4].startswith(_OF_MBROLA)
        ]
        speakers = [row[4].removeprefix("!v/") for row in self._table("variant")]
        human = [each for each in speakers if not self._is_effect(each)]
        return [f"{dialect}+{speaker}" for dialect in sorted({*dialects}) for speaker in human]

    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        pitch = min(99, round(self._PITCH * manner.pitch**2))
        speed = str(round(self._SPEED * manner.speed))
        settings = ["-v", voice, "-p", str(pitch), "-s", speed]
        return [_ESPEAK, *settings, "-w", str(sound), "-f", str(text)]

    def _table(self, language: str) -> list[list[str]]:
        listed = self._run([_ESPEAK, f"--voices={language}"]).splitlines()[1:]
        return [row for row in map(str.split, listed) if len(row) > 4]

    def _is_effect(self, speaker: str) -> bool:
        return any(effect in speaker.lower() for effect in self._EFFECTS)


class _Mbrola(_ESpeak):
    """The recorded voices of MBROLA, to which espeak-ng gives the sounds of a text."""

    program = package = "mbrola"
    _FOLDER = Path("/usr/share/mbrola")

    @property
    def is_installed(self) -> bool:
        """Whether both programs are there."""
        return super().is_installed and shutil.which(_ESPEAK) is not None

    def voices(self, language: str) -> Sequence[str]:
        files = [row[4] for row in self._table(language) if row[1].startswith(language)]
        known = {file.removeprefix("mb/") for file in files if file.startswith(_OF_MBROLA)}
        return [each for each in sorted(known) if (self._FOLDER / each.split("-")[1]).exists()]


class _Flite(Synthesizer):
    program, package = "flite", "flite"
    _HERTZ: ClassVar = {"slt": 175, "rms": 100, "awb": 125, "kal": 105, "kal16": 105}

    def voices(self, language: str) -> Sequence[str]:
        if not "en-us".startswith(language):
            return ()
        present = self._run([self.program, "-lv"]).partition(":")[2].split()
        return [each for each in present if each in self._HERTZ]

    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        settings = {
            "duration_stretch": 1 / manner.speed,
            "int_f0_target_mean": self._HERTZ[voice] * manner.pitch,
        }
        given = [word for name, value in settings.items() for word in ("--setf", f"{name}={value}")]
        return [self.program, "-voice", voice, *given, "-f", str(text), "-o", str(sound)]


class _Festival(Synthesizer):
    program = package = "festival"
    _AMERICAN = ("kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts")
    _BRITISH = ("don_diphone", "rab_diphone")
    _FOLDERS = ("/usr/share/festival/voices", "/usr/local/share/festival/voices")

    def voices(self, language: str) -> Sequence[str]:
        dialects = {"en-us": self._AMERICAN, "en-gb": self._BRITISH}
        present = {path.name for each in self._FOLDERS for path in Path(each).glob("*/*")}
        return [
            voice
            for dialect, voices in dialects.items()
            if dialect.startswith(language)
            for voice in voices
            if voice in present
        ]

    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        return self.commands([(text, sound)], voice, manner)[0]

    def commands(
        self, files: Sequence[tuple[Path, Path]], voice: str, manner: Manner
    ) -> list[list[str]]:
        """Return one command for all files, because it reads its lexicon before the first."""
        chosen = [f"(voice_{voice})", f"(Parameter.set 'Duration_Stretch {1 / manner.speed:.3f})"]
        for text, sound in files:
            saved = f'(lambda (said) (utt.save.wave said "{sound}" \'riff))'
            chosen += [f"(set! tts_hooks (list utt.synth {saved}))", f'(tts_file "{text}" nil)']
        return [[self.program, "-b", *chosen]]


class _RHVoice(Synthesizer):
    program, package = "RHVoice-test", "rhvoice"
    _FOLDER = Path("/usr/share/RHVoice/voices")
    _LANGUAGES: ClassVar = {
        "Albanian": "sq",
        "Brazilian-Portuguese": "pt-br",
        "English": "en",
        "Esperanto": "eo",
        "Kyrgyz": "ky",
        "Macedonian": "mk",
        "Polish": "pl",
        "Russian": "ru",
        "Tatar": "tt",
        "Ukrainian": "uk",
    }

    def voices(self, language: str) -> Sequence[str]:
        return [
            path.parent.name
            for path in sorted(self._FOLDER.glob("*/voice.info"))
            if self._language_of(path).startswith(language)
        ]

    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        percents = [f"{100 * each:.0f}" for each in manner]
        settings = ["-p", voice, "-t", percents[0], "-r", percents[1]]
        return [self.program, *settings, "-i", str(text), "-o", str(sound)]

    def _language_of(self, path: Path) -> str:
        lines = path.read_text("utf-8", errors="replace").splitlines()
        named = [line.removeprefix("language=") for line in lines if line.startswith("language=")]
        return self._LANGUAGES.get("".join(named), "")


class _Pico(Synthesizer):
    program, package = "pico2wave", "libttspico-utils"
    _VOICES = ("en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT")

    def voices(self, language: str) -> Sequence[str]:
        return [each for each in self._VOICES if each.lower().startswith(language)]

    def command(self, text: Path, sound: Path, voice: str, manner: Manner) -> list[str]:
        pitch, speed = (f"{100 * each:.0f}" for each in manner)
        said = escape(text.read_text("utf-8").strip())
        marked = f'<speed level="{speed}"><pitch level="{pitch}">{said}</pitch></speed>'
        return [self.program, "-l", voice, "-w", str(sound), marked]


SYNTHESIZERS: tuple[Synthesizer, ...] = (
    _ESpeak(),
    _Mbrola(),
    _Flite(),
    _Festival(),
    _RHVoice(),
    _Pico(),
)


def installed() -> list[Synthesizer]:
    """Return the synthesizers on this computer; `InputError` if there is none."""
    found = [each for each in SYNTHESIZERS if each.is_installed]
    if not found:
        known = ", ".join(each.package for each in SYNTHESIZERS)
        raise InputError(f"no synthesizer of speech was found; install some of {known}")
    return found


def _read(path: Path) -> Sound | None:
    """Return what a program wrote; some state a wrong length, because they write as they speak."""
    try:
        with wave.open(str(path), "rb") as sound:
            rate, width, channels = sound.getframerate(), sound.getsampwidth(), sound.getnchannels()
            content = sound.readframes(sound.getnframes())
    except (OSError, EOFError, wave.Error):
        return None
    if (width, channels) != (2, 1) or rate <= 0:
        return None
    samples = np.frombuffer(content[: len(content) // 2 * 2], "<i2").astype(np.float64)
    silent = len(samples) < _LEAST_SAMPLES or np.abs(samples).max() < 300
    return None if silent else Sound(samples, float(rate))
