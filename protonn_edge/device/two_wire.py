"""Sensors on the two-wire bus: the registers for their setup and their data."""

from __future__ import annotations

from dataclasses import dataclass

Setting = tuple[int, int, str]
"""A register, the value written to it, and why."""


@dataclass(frozen=True)
class TwoWireDevice:
    """A chip on the two-wire bus.

    Attributes
    ----------
    address : int
        7 bits.
    id_register : int
        The register that identifies the chip.
    ids : tuple of int
        Its value, and those of chips with the same registers.
    first_data, data_bytes : int
        The registers that are read in one transfer.
    value_at : tuple of int
        Offsets of each channel's two bytes in these.
    big_endian : bool
        Whether the upper byte comes first.
    always : tuple of Setting
        Settings for all rates.
    steps : tuple of (float, Setting)
        Settings by the rate: the first one whose rate is not exceeded, or the last.
    """

    address: int
    id_register: int
    ids: tuple[int, ...]
    first_data: int
    data_bytes: int
    value_at: tuple[int, ...]
    big_endian: bool
    always: tuple[Setting, ...]
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
