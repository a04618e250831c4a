"""Sensors that a board samples at a steady rate: the settings of its timer, ADC and bus.

A timer starts each sample, and interrupts read it. Rates that are too high for the chip or the
sensor are refused before anything is written. Loggers and firmware that classifies its sensor's
samples share this module and the templates in ``templates/device``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protonn_edge import __version__
from protonn_edge.boards import Board
from protonn_edge.codegen import template_environment
from protonn_edge.device.protocol import BITS_PER_BYTE
from protonn_edge.device.sensor_board import SENSOR_NUMBERS
from protonn_edge.errors import InputError
from protonn_edge.sensors import SensorKind
from protonn_edge.sensors.kinds import LARGEST_PRESCALER, TIMER_STEPS, rate_limits
from protonn_edge.toolchain.platformio import description_file, upload_lines

_MCU = "atmega328p"
_ADC_HZ = 125_000  # a conversion takes 13 cycles of it
_FAST_ANALOG_RATE = 4_000.0  # above, conversions take half as long, and are slightly less accurate
_PRESCALERS = ((1, "_BV(CS10)"), (8, "_BV(CS11)"), (64, "_BV(CS11) | _BV(CS10)"),
               (256, "_BV(CS12)"), (LARGEST_PRESCALER, "_BV(CS12) | _BV(CS10)"))  # fmt: skip
_TWI_HZ = 400_000
# Cycles of interrupts, rounded up from measurements on simulated boards.
_TIMER_CYCLES = 100
_CONVERSION_CYCLES = 200
_BUS_BYTE_CYCLES = 200
_ADDRESSES = 6  # bytes on the bus, and starts, besides the data

BAUDS = (115_200, 250_000, 500_000, 1_000_000)
"""Baud rates to try if none is given: those of boards with a 16 MHz clock."""

_LINE_SHARE = 0.95
_BAUD_ERROR = 0.025

Setting = tuple[int, int, str]  # a register, the value written to it, and why


@dataclass(frozen=True)
class TwoWireDevice:
    """A chip on the two-wire bus."""

    address: int  # 7 bits
    id_register: int  # the register that identifies the chip
    ids: tuple[int, ...]  # its value, and those of chips with the same registers
    first_data: int  # the registers that are read in one transfer
    data_bytes: int
    value_at: tuple[int, ...]  # offsets of each channel's two bytes in these
    big_endian: bool  # whether the upper byte comes first
    always: tuple[Setting, ...]  # settings for all rates
    # settings by the rate: the first one whose rate is not exceeded, or the last
    steps: tuple[tuple[float, Setting], ...]

    def settings_for(self, rate: float) -> list[Setting]:
        """Return the settings for a rate in hertz."""
        chosen = next((setting for most, setting in self.steps if rate <= most), self.steps[-1][1])
        return [*self.always, chosen]


def _low_pass(number: int, hertz: int) -> Setting:
    return 0x1A, number, f"CONFIG: {hertz} Hz low pass"


DEVICES = {
    "mpu6050": TwoWireDevice(
        address=0x68,
        id_register=0x75,
        ids=(0x68, 0x70, 0x71),  # MPU-6500 and MPU-9250, on many boards of that name
        first_data=0x3B,
        data_bytes=14,
        value_at=(0, 2, 4, 8, 10, 12),  # the temperature is in between
        big_endian=True,
        always=(
            (0x6B, 0x01, "PWR_MGMT_1: awake, clocked by its gyroscope"),
            (0x19, 0x00, "SMPLRT_DIV: 1 kHz within"),
            (0x1B, 0x08, "GYRO_CONFIG: 500 degrees a second"),
            (0x1C, 0x08, "ACCEL_CONFIG: 4 g"),
        ),
        # The widest band that is below half of the rate.
        steps=(
            (20.0, _low_pass(6, 5)),
            (42.0, _low_pass(5, 10)),
            (88.0, _low_pass(4, 21)),
            (188.0, _low_pass(3, 44)),
            (368.0, _low_pass(2, 94)),
            (1e9, _low_pass(1, 184)),
        ),
    ),
    "adxl345": TwoWireDevice(
        address=0x53,
        id_register=0x00,
        ids=(0xE5,),
        first_data=0x32,
        data_bytes=6,
        value_at=(0, 2, 4),
        big_endian=False,
        always=(
            (0x31, 0x0B, "DATA_FORMAT: 16 g, full resolution"),
            (0x2D, 0x08, "POWER_CTL: measure"),
        ),
        steps=tuple(
            (hertz, (0x2C, 0x07 + number, f"BW_RATE: {hertz} Hz within"))
            for number, hertz in enumerate((12.5, 25, 50, 100, 200, 400, 800, 1600))
        ),
    ),
}
"""By the names of the sensor kinds."""


@dataclass(frozen=True)
class Sampling:
    """Sensors and their sampling rate, validated on construction.

    Raises `InputError` if the sensors cannot be sampled together, or the rate cannot be kept.
    """

    kinds: tuple[SensorKind, ...]  # analog inputs, or one other sensor
    rate: float  # requested samples per second; `actual_rate` is the timer's
    board: Board  # a board with an ATmega328P

    def __post_init__(self) -> None:
        names = self.name
        if self.board.mcu != _MCU:
            raise InputError(
                f"{self.board.name} has an {self.board.mcu or 'unknown chip'}, sensors are sampled "
                f"by an {_MCU}; choose --board uno, nano or promini8"
            )
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise InputError(f"the sensors are {names or 'none'}; name each once")
        if len(self.kinds) > 1 and any(kind.name != f"a{kind.pin}" for kind in self.kinds):
            raise InputError(
                f"{names} cannot be sampled together; name analog inputs, or one sensor"
            )
        least, most = rate_limits(self.kinds[0].name, len(self.channels), self.board.clock_hz)
        if not least <= self.rate <= most:
            raise InputError(
                f"{names} at {self.rate:g} Hz: {self.board.name} can sample them at {least:.2g} to "
                f"{most:,.0f} Hz; choose another --rate"
            )

    @classmethod
    def of(cls, kinds: Sequence[SensorKind], rate: float, board: Board) -> Sampling:
        """Return the sampling of sensors, analog inputs in the order of their pins."""
        return cls(tuple(sorted(kinds, key=lambda kind: kind.pin or 0)), rate, board)

    @property
    def name(self) -> str:
        """The sensors' names for display."""
        return ", ".join(kind.name for kind in self.kinds)

    @property
    def number(self) -> int:
        """The number that the board sends for its sensor."""
        kind = self.kinds[0]
        return SENSOR_NUMBERS["analog" if kind.name == f"a{kind.pin}" else kind.name]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of a sample's values."""
        return tuple(name for kind in self.kinds for name in kind.channels)

    @property
    def device(self) -> TwoWireDevice | None:
        """The chip on the two-wire bus, None if analog inputs are sampled."""
        return DEVICES.get(self.kinds[0].name)

    @property
    def timer(self) -> tuple[int, str, int]:
        """The timer's prescaler, its bits in C, and timer steps per sample."""
        cycles = self.board.clock_hz / self.rate
        for prescaler, bits in _PRESCALERS:
            if round(cycles / prescaler) <= TIMER_STEPS:
                return prescaler, bits, max(1, round(cycles / prescaler))
        raise AssertionError("the rate was checked")

    @property
    def period_cycles(self) -> int:
        """Clock cycles from one sample to the next."""
        prescaler, _, steps = self.timer
        return prescaler * steps

    @property
    def actual_rate(self) -> float:
        """Samples per second of the timer."""
        return self.board.clock_hz / self.period_cycles

    @property
    def interrupt_cycles(self) -> int:
        """Approximate cycles of interrupts per sample, before it is stored."""
        if self.device is None:
            return _TIMER_CYCLES + _CONVERSION_CYCLES * len(self.channels)
        return _TIMER_CYCLES + _BUS_BYTE_CYCLES * (self.device.data_bytes + _ADDRESSES)

    def project(self, program: str, context: dict[str, object]) -> dict[str, str]:
        """Return a PlatformIO project's files by name, with a program of ``templates/device``."""
        environment = template_environment("device")
        return {
            "platformio.ini": environment.get_template("platformio.ini.j2").render(context),
            "src/main.c": environment.get_template(f"{program}.c.j2").render(context),
            **description_file(self.board),
        }

    def context(self, baud: int, **more: object) -> dict[str, object]:
        """Return what the templates read: this object, the line's settings, and what is added."""
        clock_hz = self.board.clock_hz
        return {
            "tool_version": __version__,
            "sampling": self,
            "board": self.board,
            "upload_lines": upload_lines(self.board),
            "baud": baud,
            "baud_divisor": baud_divisor(self.board, baud),
            "digital_off": sum(1 << kind.pin for kind in self.kinds if kind.pin is not None),
            "adc_prescaler_bits": self._adc_prescaler.bit_length() - 1,
            "conversion_us": round(13e6 * self._adc_prescaler / clock_hz),
            "twi_divisor": max(0, (clock_hz // _TWI_HZ - 16) // 2),
            **more,
        }

    @property
    def _adc_prescaler(self) -> int:
        prescaler = 1 << (self.board.clock_hz // _ADC_HZ).bit_length() - 1
        fast = self.rate * len(self.channels) > _FAST_ANALOG_RATE
        return prescaler // 2 if fast else prescaler


# --- the serial line -----------------------------------------------------------------------------


def bytes_carried(baud: int) -> float:
    """Return the bytes per second that may be sent at a baud rate."""
    return _LINE_SHARE * baud / BITS_PER_BYTE


def byte_cycles(board: Board, baud: int) -> float:
    """Return the clock cycles of a byte on the line."""
    return board.clock_hz * BITS_PER_BYTE / baud


def baud_divisor(board: Board, baud: int) -> int:
    """Return the value of UBRR0, at double speed."""
    return max(0, round(board.clock_hz / (8 * baud)) - 1)


def is_made(board: Board, baud: int) -> bool:
    """Whether the board's clock generates the baud rate accurately enough."""
    divisor = baud_divisor(board, baud) + 1
    return abs(board.clock_hz / (8 * divisor) / baud - 1) <= _BAUD_ERROR


def least_baud(board: Board, bytes_a_second: float) -> int:
    """Return the lowest sufficient baud rate from the board's on; the board's if there is none."""
    for baud in (board.baud, *(each for each in BAUDS if each > board.baud)):
        if bytes_a_second <= bytes_carried(baud) and is_made(board, baud):
            return baud
    return board.baud


def check_baud(board: Board, baud: int, what: str, bytes_a_second: float) -> None:
    """Raise `InputError` if a baud rate cannot be generated, or is too low for the bytes to send.

    `what` is the beginning of a sentence: ``"mpu6050 at 100 Hz"``.
    """
    if not is_made(board, baud):
        raise InputError(
            f"{board.name} cannot generate {baud:,} baud from its clock; choose one of "
            f"{', '.join(map(str, BAUDS))} with --baud"
        )
    if bytes_a_second > bytes_carried(baud):
        raise InputError(
            f"{what} needs {bytes_a_second:,.0f} bytes a second, but {baud:,} baud carry only "
            f"{bytes_carried(baud):,.0f}; choose a lower --rate or a higher --baud"
        )
