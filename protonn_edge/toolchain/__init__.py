"""The tools outside Python: PlatformIO, the host's C compiler, and what they leave behind.

`platformio` and `host` run compilers, `elf` and `stack` read what was linked.
"""
