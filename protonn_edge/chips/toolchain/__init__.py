"""The tools outside Python: PlatformIO, compilers, Node.js, serial ports."""
