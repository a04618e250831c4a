"""The sketch Blink flashes what the model answers: a program on the host counts the flashes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from arduino_ide import export_for_uno
from model_factory import random_model, random_points

from protonn_edge.model.quantization import quantize

# As much of the Arduino core as the sketch needs. Time does not pass.
ARDUINO_H = """
#include <cstdint>
#include <cstdio>
enum { LOW, HIGH, OUTPUT, LED_BUILTIN = 13 };
struct Port {
    void begin(long) {}
    void println(const char *text) { std::printf("%s", text); }
};
static Port Serial;
static void pinMode(int, int) {}
static void digitalWrite(int pin, int level)
{
    if (pin == LED_BUILTIN && level == HIGH) {
        std::printf(" *");
    }
}
static void delay(int ms)
{
    if (ms > 1000) {
        std::printf("\\n");
    }
}
"""
MAIN = """
int main()
{
    setup();
    for (unsigned turn = 0; turn < PNN_TEST_VECTORS + 2; ++turn) {
        loop();
    }
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH; to run: install g++")
def test_each_class_has_as_many_flashes_as_it_should(tmp_path: Path):
    model, points = random_model(), random_points(3, 6, 12)
    library = tmp_path / "digits"
    export_for_uno(model, "arduino", library, points=points)
    (library / "src" / "Arduino.h").write_text(ARDUINO_H)
    sketch = (library / "examples" / "Blink" / "Blink.ino").read_text()
    (tmp_path / "main.cpp").write_text(f"#include <Arduino.h>\n{sketch}{MAIN}")
    sources = [tmp_path / "main.cpp"]
    for source in (library / "src").glob("*.c"):
        sources.append(source.with_suffix(".o"))
        compile_c = ["gcc", "-std=c99", "-c", source, "-o", sources[-1]]
        subprocess.run(compile_c, check=True, timeout=60)
    program = tmp_path / "program"
    link = ["g++", "-std=c++11", f"-I{library / 'src'}", *sources, "-o", program]
    subprocess.run(link, check=True, timeout=60)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)

    reference = quantize(model)
    answers = reference.predict(reference.quantize(points)).tolist()
    expected = [f"{model.classes[answer]}{' *' * (answer + 1)}" for answer in answers]
    assert done.stdout.splitlines() == expected + expected[:2]
