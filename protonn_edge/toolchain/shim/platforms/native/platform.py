"""The platform of programs for this computer, as PlatformIO loads it."""

from platformio.public import PlatformBase


class NativePlatform(PlatformBase):
    """The computer at hand, with the compiler that it has."""
