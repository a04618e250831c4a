"""The RP2040, the chip of a Raspberry Pi Pico: built by arm-none-eabi-gcc, emulated by rp2040py."""

from protonn_edge.codegen.families.rp2040.family import RP2040

FAMILY = RP2040()
