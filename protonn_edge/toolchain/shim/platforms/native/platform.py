"""The platform of programs for this computer, as PlatformIO loads it."""

from platformio.public import PlatformBase


class NativePlatform(PlatformBase):
    """This computer, with the compiler that it has."""
