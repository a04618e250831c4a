"""The sketches that teach: which window becomes an example of which class, whatever buttons do.

On the host, the sketch runs in simulated time with simulated buttons; on the Uno, as it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import serial
from arduino_ide import (
    assert_within_budget,
    compile_libraries,
    export_for_uno,
    link_sketch,
    needs_arduino_core,
    run_on_uno,
)
from chains import replace
from model_factory import random_model, random_window_model, window_features_of

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.teaching.board import with_taught
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

SAMPLES, PERIOD_US = 20, 10_000

# As much of the Arduino core as the sketches need. A call of micros() takes 200 us; buttons and the
# serial monitor follow the script, and a channel's value is the number of the sample and more.
ARDUINO_H = """
#include <cstdint>
#include <cstdio>
#define F(text) text
enum { LOW, HIGH, OUTPUT, INPUT_PULLUP, LED_BUILTIN = 13, A0 = 14 };
struct event { unsigned long at_us; int pin, level; };
static const event script[] = { SCRIPT };
static unsigned long now_us;
static unsigned long micros() { return now_us += 200; }
static unsigned long millis() { return now_us / 1000; }
static int levels[A0];
static bool pulled_up[A0];
static void pinMode(int pin, int mode) { pulled_up[pin] = mode == INPUT_PULLUP; }
static int digitalRead(int pin)
{
    int level = pulled_up[pin] ? HIGH : LOW;
    for (const event &each : script) {
        level = each.pin == pin && each.at_us <= now_us ? each.level : level;
    }
    return level;
}
static void digitalWrite(int pin, int level)
{
    if (levels[pin] != level) {
        std::printf("led %d\\n", levels[pin] = level);
    }
}
static int analogRead(int pin) { return (int)(now_us / 10000 * 37 + (pin - A0) * 11) % 500; }
struct Port {
    size_t sent = 0;
    void begin(long) {}
    int read()
    {
        for (const event &each : script) {
            if (each.pin < 0 && each.at_us <= now_us && each.at_us > sent) {
                sent = each.at_us;
                return each.level;
            }
        }
        return -1;
    }
    void print(const char *text) { std::printf("%s", text); }
    void print(char text) { std::printf("%c", text); }
    void println(const char *text) { std::printf("%s\\n", text); }
    void println(long number) { std::printf("%ld\\n", number); }
};
static Port Serial;
"""
MAIN = """
int main()
{
    setup();
    while (now_us < END_US) {
        const int pushed_before = pushed;
        loop();
        if (pushed == 1 && pushed_before != 1) {
            std::printf("begins %lu\\n", now_us);
        }
    }
}
"""

PRESSED, RELEASED = 0, 1
needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="g++ is not on PATH; to run: install g++"
)


def teachable_model() -> Model:
    model = random_window_model(window_features_of("mean,deviation,crossings", SAMPLES, 3))
    return replace(model, teachable=30)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library") / "motion"
    export_for_uno(teachable_model(), "arduino", folder)
    return folder


@dataclass
class Script:
    """What happens to the pins, and when."""

    events: list[tuple[int, int, int]] = field(default_factory=list)

    def press(self, pin: int, at_ms: float, for_ms: float = 200) -> None:
        """Press a button whose contacts bounce for 5 ms."""
        for level, end_ms in ((PRESSED, at_ms), (RELEASED, at_ms + for_ms)):
            for bounce in range(5):
                when = round(1000 * end_ms) + 1000 * bounce
                self.events.append((when, pin, (level + bounce) % 2))

    def send(self, letter: str, at_ms: float) -> None:
        self.events.append((round(1000 * at_ms), -1, ord(letter)))


def simulated(library: Path, example: str, script: Script, seconds: float, folder: Path) -> str:
    """Return what a sketch prints on this computer, with the script's buttons."""
    events = ", ".join(f"{{ {at}, {pin}, {level} }}" for at, pin, level in sorted(script.events))
    sketch = (library / "examples" / example / f"{example}.ino").read_text()
    core = ARDUINO_H.replace("SCRIPT", events)
    main = MAIN.replace("END_US", f"{seconds * 1e6:.0f}")
    (folder / "main.cpp").write_text(f"{core}{sketch}{main}")
    command = ["g++", "-std=c++11", "-Wall", "-Wextra", f"-I{library / 'src'}"]
    objects = []
    for source in (library / "src").glob("*.c"):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run(["gcc", "-std=c99", "-c", source, "-o", objects[-1]], check=True, timeout=60)
    subprocess.run(
        [*command, folder / "main.cpp", *objects, "-o", folder / "program"], check=True, timeout=60
    )
    program = [folder / "program"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def learned(printed: str) -> list[tuple[str, int]]:
    """Return what was printed of each example: the answer before it, and the number of examples."""
    return [
        (name, int(count))
        for name, count in re.findall(
            r"(class \d) -?\d+\nlearned; examples of this class: (\d+)", printed
        )
    ]


HELD = [(3, 500, 200), (3, 1500, 1500), (5, 4000, 200)]
# Class 2, class 0, five presses where there are four classes, and class 2.
COUNTED = [
    (2, at, 200)
    for at in (500, 900, 1300, 4000, 6000, 6400, 6800, 7200, 7600, 10_000, 10_400, 10_800)
]
BOTH = [(2, 500, 1500), (3, 1000, 500), (3, 4500, 1500), (2, 5000, 500)]
PRESSES = {
    "a button teaches once, however long it is held": ("TeachButtons", HELD, [1, 2, 1]),
    "presses are counted, and bounces are not": ("TeachPresses", COUNTED, [1, 1, 2]),
    "the first of two buttons is meant": ("TeachButtons", BOTH, [1, 1]),
}


@needs_compiler
@pytest.mark.parametrize("name", PRESSES)
def test_presses_teach(name: str, library: Path, tmp_path: Path) -> None:
    (example, presses, counts), script = PRESSES[name], Script()
    for press in presses:
        script.press(*press)
    printed = simulated(library, example, script, presses[-1][1] / 1000 + 3, tmp_path)
    assert [count for _, count in learned(printed)] == counts
    if presses is HELD:
        assert printed.count("led 1") == printed.count("led 0") == 3


@needs_compiler
def test_a_letter_forgets_all(library: Path, tmp_path: Path) -> None:
    script = Script()
    script.press(2, at_ms=500)
    script.send("f", at_ms=1500)
    script.press(2, at_ms=2000)
    printed = simulated(library, "TeachButtons", script, 3, tmp_path)
    assert [count for _, count in learned(printed)] == [1, 1]
    assert printed.count("forgot all examples") == 1


@needs_compiler
def test_the_window_that_begins_with_the_light_is_the_example(
    library: Path, tmp_path: Path
) -> None:
    script = Script()
    script.press(4, at_ms=555)
    printed = simulated(library, "TeachButtons", script, 2, tmp_path)
    lit = printed.index("led 1")
    begins_us = int(re.search(r"begins (\d+)", printed[lit:])[1])  # type: ignore[index]
    assert 555_000 < begins_us < 555_000 + 2 * PERIOD_US
    # Later windows have the scores of a model that was taught this one.
    model = quantize(teachable_model())
    first = begins_us // PERIOD_US
    starts, sample, channel = np.ogrid[first : first + 200, :SAMPLES, :3]
    raw = ((starts + sample) * 37 + channel * 11) % 500
    Q = model.raw_inputs.quantize(raw.reshape(200, -1).astype(np.int16))
    point = coordinates(model, Q[:1]).astype(np.int8)
    taught = with_taught(model, Taught(point, np.array([2], np.uint8)))
    answers, scores = taught.predict(Q), taught.scores(Q).max(axis=1)
    after = printed[printed.index("learned") :]
    windows = re.findall(r"begins (\d+)\n(class \d) (-?\d+)", after)
    assert len(windows) > 3
    for begin, name, score in windows:
        row = int(begin) // PERIOD_US - first
        assert (name, int(score)) == (model_class(answers[row]), scores[row])


def model_class(index: int) -> str:
    return teachable_model().classes[index]


@pytest.mark.parametrize(("classes", "pins"), [(4, "2: class 0"), (14, "2: class 3")])
def test_each_pin_has_its_class(classes: int, pins: str, tmp_path: Path) -> None:
    model = replace(random_model(classes=classes), teachable=5)
    export_for_uno(model, "platformio", tmp_path / "many")
    text = (tmp_path / "many" / "examples" / "TeachButtons" / "TeachButtons.ino").read_text()
    assert f"pin {pins}\n" in text
    assert f"pin {min(classes, 11) + 1}: class {classes - 1}\n" in text


@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_only_libraries_of_teachable_models_teach(kind: str, tmp_path: Path) -> None:
    for room in (0, 5):
        folder = tmp_path / f"room{room}"
        export_for_uno(replace(random_model(), teachable=room), kind, folder, prefix="pnn")  # type: ignore[arg-type]
        sketches = sorted(path.name for path in folder.glob("examples/Teach*"))
        assert sketches == (["TeachButtons", "TeachPresses"] if room and kind != "c" else [])
        readme = (folder / "README.md").read_text()
        for name in ("pnn_recall", "pnn_learn", "pnn_forget", "pnn_forget_all", "pnn_taught"):
            assert (f"{name}(" in readme) == (room > 0)
        assert ("TeachButtons" in readme) == (len(sketches) > 0)
        uses = [path for path in folder.rglob("*.ino") if "pnn_recall();" in path.read_text()]
        assert len(uses) == (4 if sketches else 0)


@needs_arduino_core
def test_they_run_on_the_uno(library: Path, arduino_core: Path, tmp_path: Path) -> None:
    objects = compile_libraries(tmp_path, library)
    for example in ("TeachButtons", "TeachPresses", "SelfTest", "Classify"):
        ran = run_on_uno(link_sketch(library, example, arduino_core, objects))
        assert_within_budget(ran)
        assert ran.printed.startswith(("class ", "PASS"))
    buttons = link_sketch(library, "TeachButtons", arduino_core, objects)
    with EmulatedUno(buttons) as uno:
        with serial.serial_for_url(uno.url, timeout=60) as line:
            line.read_until(b"\n")
            for pin, examples in (("PD2", 1), ("PD4", 1), ("PD2", 2)):
                uno.press(pin)
                printed = line.read_until(f"learned; examples of this class: {examples}".encode())
                assert printed.count(b"learned") == 1
        assert uno.stats().faults == ()


@needs_compiler
@pytest.mark.parametrize("example", ["TeachButtons", "TeachPresses"])
def test_a_button_that_is_held_down_at_the_start_is_not_pressed(
    library: Path,
    example: str,
    tmp_path: Path,
) -> None:
    script = Script([(0, 2, PRESSED), (900_000, 2, RELEASED)])
    assert learned(simulated(library, example, script, 4, tmp_path)) == []
    script.press(2, at_ms=4500)
    assert [count for _, count in learned(simulated(library, example, script, 8, tmp_path))] == [1]
