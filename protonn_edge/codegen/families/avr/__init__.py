"""AVRs, such as the chip of an Uno: built by PlatformIO, emulated by simavr, proven by `avr`."""
