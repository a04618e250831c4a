"""The CPUs of chips, with the differences in code and, for AVR chips, in stack and cycles.

AVR chips for which avr-gcc generates the same code share a core, whose name `avr-gcc -mmcu=attiny85
-print-multi-directory` prints. Chips of 32 bits have a program of their own, with one kernel for
each stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BOUND_FLAGS = "avr-gcc -O2"
"""The compiler and flags for which bounds of cycles hold; it generates the code around loops.

The generated C sets this level itself, because sketches are compiled with other flags."""


@dataclass(frozen=True)
class Core:
    """Properties shared by the chips of one architecture."""

    name: str  # as the compiler calls it
    machine: int  # its number in the flags of an ELF file
    chip: str  # a chip with this core, with its article, for texts
    multiplies: bool  # whether it has MUL and the other products
    vector_bytes: int  # of an interrupt vector: 2 for an RJMP, 4 for a JMP
    # of a return address: 3 where flash has more than 128 kB. CALL, RET, RETI and the response to
    # an interrupt then take a cycle more each
    return_bytes: int
    family: str = "avr"  # of chips: "avr", "cortex-m", "riscv" or "xtensa"
    in_words: bool = False  # whether models have a program of 32-bit words, and a single plan

    @property
    def wraps_at(self) -> int:
        """The size of flash where short jumps wrap around its end; 0 if there are long jumps."""
        return 0x2000 if self.vector_bytes == 2 else 0

    @property
    def call_cycles(self) -> int:
        """Extra cycles of a call and its return, over an ATmega328P."""
        return 2 * (self.return_bytes - 2)


_SMALL: dict[str, Any] = {"vector_bytes": 2, "return_bytes": 2}  # up to 8 kB: no JMP, no CALL
_MIDDLE: dict[str, Any] = {"vector_bytes": 4, "return_bytes": 2}
_LARGE: dict[str, Any] = {"vector_bytes": 4, "return_bytes": 3}

CORES = {
    core.name: core
    for core in (
        Core("avr25", 25, "an ATtiny85", multiplies=False, **_SMALL),
        Core("avr35", 35, "an ATtiny167", multiplies=False, **_MIDDLE),
        Core("avr4", 4, "an ATmega88", multiplies=True, **_SMALL),
        Core("avr5", 5, "an ATmega328P", multiplies=True, **_MIDDLE),
        Core("avr51", 51, "an ATmega1284P", multiplies=True, **_MIDDLE),
        Core("avr6", 6, "an ATmega2560", multiplies=True, **_LARGE),
    )
}

UNO_CORE = CORES["avr5"]

EXPORTED_CORES = {
    "avrxmega3": Core("avrxmega3", 103, "an ATmega4809", multiplies=True, **_MIDDLE),
}
"""AVR cores that have the same instructions, but no firmware, emulator or bounds."""


def _of_words(name: str, family: str, chip: str) -> Core:
    bytes_: dict[str, Any] = {"vector_bytes": 4, "return_bytes": 4}
    return Core(name, 0, chip, multiplies=True, **bytes_, family=family, in_words=True)


WORD_CORES = {
    core.name: core
    for core in (
        _of_words("cortex-m0", "cortex-m", "an nRF51822"),
        _of_words("cortex-m0plus", "cortex-m", "an RP2040"),
        _of_words("cortex-m3", "cortex-m", "an STM32F103"),
        _of_words("cortex-m4", "cortex-m", "an nRF52840"),
        _of_words("cortex-m7", "cortex-m", "an i.MX RT1062"),
        _of_words("rv32imc", "riscv", "an ESP32-C3"),
        _of_words("lx106", "xtensa", "an ESP8266"),
        _of_words("lx6", "xtensa", "an ESP32"),
        _of_words("lx7", "xtensa", "an ESP32-S3"),
    )
}
"""Cores of 32 bits; their names are those that the compilers' options have."""

EVERY_CORE = {**CORES, **EXPORTED_CORES, **WORD_CORES}
