"""AVRs, such as the chip of an Uno: built by PlatformIO, emulated by simavr, proven by `avr`."""

from protonn_edge.codegen.families.avr.family import AVR

FAMILY = AVR()
