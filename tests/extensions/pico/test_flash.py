"""The second stage of the start is one that the boot ROM runs, and UF2 files are what it reads."""

import struct

import pytest

from protonn_edge.extensions.pico.flash import (
    BOOT2_BYTES,
    FLASH_START,
    crc32,
    has_right_crc,
    uf2,
    with_crc,
)

FLASH = bytes(n % 251 for n in range(1000))


def test_the_crc_is_that_of_the_boot_rom():
    assert crc32(b"123456789") == 0x0376E6E7  # CRC-32/MPEG-2


def test_the_crc_is_put_behind_the_second_stage():
    flash = with_crc(FLASH)
    assert has_right_crc(flash[:BOOT2_BYTES])
    assert flash[:252] + flash[256:] == FLASH[:252] + FLASH[256:]
    assert not has_right_crc(FLASH[:BOOT2_BYTES])


@pytest.mark.parametrize("size", [1, 256, 257, 1000])
def test_the_blocks_of_a_uf2_file_make_up_the_flash(size: int):
    contents = uf2(FLASH[:size])
    blocks = [contents[place : place + 512] for place in range(0, len(contents), 512)]
    flash = b""
    for number, block in enumerate(blocks):
        first, second, flags, address, length, its, count, family = struct.unpack("<8I", block[:32])
        assert (first, second) == (0x0A324655, 0x9E5D5157)
        assert struct.unpack("<I", block[508:]) == (0x0AB16F30,)
        assert (flags, family) == (0x2000, 0xE48BFF56)
        assert (address, length) == (FLASH_START + 256 * number, 256)
        assert (its, count) == (number, len(blocks))
        flash += block[32 : 32 + length]
    assert flash.rstrip(b"\0") == FLASH[:size].rstrip(b"\0")
    assert len(flash) < size + 256
