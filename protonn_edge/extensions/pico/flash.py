"""The contents of a Pico's flash, and the UF2 file that its boot ROM writes there.

UF2 is Microsoft's format (github.com/microsoft/uf2): blocks of 512 bytes, each with 256 bytes of
the flash and their address, so that a drive can be written in any order.
"""

from __future__ import annotations

import struct

FLASH_START = 0x1000_0000
BOOT2_BYTES = 256
"""The second stage of the start, at the beginning of the flash, with its CRC-32."""

_POLYNOMIAL = 0x04C1_1DB7
_PAYLOAD = 256
_MAGIC = (0x0A32_4655, 0x9E5D_5157)
_END_MAGIC = 0x0AB1_6F30
_HAS_FAMILY = 0x2000
_RP2040 = 0xE48B_FF56


def crc32(data: bytes) -> int:
    """Return the CRC-32 of the boot ROM: no reflection, no inversion at the end."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (_POLYNOMIAL if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc


def with_crc(flash: bytes) -> bytes:
    """Return the flash with the CRC-32 of the second stage at its place."""
    end = BOOT2_BYTES - 4
    return flash[:end] + struct.pack("<I", crc32(flash[:end])) + flash[BOOT2_BYTES:]


def has_right_crc(stage: bytes) -> bool:
    """Return whether the boot ROM would run this second stage."""
    return len(stage) == BOOT2_BYTES and stage == with_crc(stage)


def uf2(flash: bytes) -> bytes:
    """Return the UF2 file that writes these bytes to the start of an RP2040's flash."""
    count = -(-len(flash) // _PAYLOAD)
    blocks = []
    for number in range(count):
        place = number * _PAYLOAD
        payload = flash[place : place + _PAYLOAD].ljust(476, b"\0")
        header = (*_MAGIC, _HAS_FAMILY, FLASH_START + place, _PAYLOAD, number, count, _RP2040)
        blocks.append(struct.pack("<8I", *header) + payload + struct.pack("<I", _END_MAGIC))
    return b"".join(blocks)
