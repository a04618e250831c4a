"""The machines of QEMU that stand for cores: their compilers, memory and names."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.chips.boards import Board
from protonn_edge.system.errors import InputError

ICOUNT_SHIFT = 6  # as in core.cpp
_LINE = "-chardev stdio,id=line,signal=off -serial chardev:line"


@dataclass(frozen=True)
class QEMUMachine:
    """A core of QEMU, on a machine that has a serial line and a timer."""

    name: str  # by which users choose it
    title: str  # what it is, with its article
    prefix: str  # of the names of its compiler's programs
    target: str  # options of the compiler
    emulator: str  # QEMU's command
    define: str  # of core.cpp
    rom: int
    ram: tuple[int, int]
    packages: str

    @property
    def compiler(self) -> str:
        """The name of its compiler."""
        return f"{self.prefix}-gcc"


def _arm(
    core: str, machine: str, define: str = "MACHINE_MPS2", kilobytes: int = 4096
) -> QEMUMachine:
    return QEMUMachine(
        f"qemu-{core}",
        f"a {core.replace('cortex-m', 'Cortex-M')} of QEMU",
        "arm-none-eabi",
        f"-mcpu={core} -mthumb",
        f"qemu-system-arm -M {machine} {_LINE}",
        define,
        0,
        (0x2000_0000, 0x2000_0000 + (kilobytes << 10)),
        "gcc-arm-none-eabi and qemu-system-arm",
    )


_M0 = _arm("cortex-m0", "microbit", "MACHINE_NRF51", 16)
_RISCV = QEMUMachine(
    "qemu-riscv32",
    "a RISC-V core of QEMU",
    "riscv64-unknown-elf",
    "-march=rv32imac -mabi=ilp32",
    f"qemu-system-riscv32 -bios none -M virt {_LINE}",
    "MACHINE_VIRT",
    0x8000_0000,
    (0x8040_0000, 0x8080_0000),
    "gcc-riscv64-unknown-elf and qemu-system-misc",
)
_XTENSA = QEMUMachine(
    "qemu-lx106",
    "an Xtensa LX106 of QEMU",
    "xtensa-lx106-elf",
    "-mlongcalls",
    # Its program calls the simulator, which reads QEMU's own stdin.
    "qemu-system-xtensa -semihosting -M sim -cpu lx106 -serial none",
    "MACHINE_SIM",
    0x5000_0000,
    (0x6000_0000, 0x6400_0000),
    "gcc-xtensa-lx106 and qemu-system-misc",
)
MACHINES = {
    "cortex-m0": _M0,
    "cortex-m0plus": _M0,
    "cortex-m3": _arm("cortex-m3", "mps2-an385"),
    "cortex-m4": _arm("cortex-m4", "mps2-an386"),
    "cortex-m7": _arm("cortex-m7", "mps2-an500"),
    "rv32imc": _RISCV,
    **dict.fromkeys(("lx106", "lx6", "lx7"), _XTENSA),
}
"""By the names of the cores that they stand for, or are most like."""


def machine_for(board: Board) -> QEMUMachine:
    """Return the machine that stands for a board; `InputError` if there is none."""
    machine = MACHINES.get(board.core)
    if machine is None:
        raise InputError(f"no core of QEMU stands for {board.name} ({board.core}); use --port")
    return machine
