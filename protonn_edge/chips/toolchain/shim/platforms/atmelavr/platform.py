"""The platform as PlatformIO loads it."""

from platformio.public import PlatformBase


class AtmelavrPlatform(PlatformBase):
    """Atmel AVR with no packages of its own."""

    def is_embedded(self) -> bool:
        """Return True: a program is uploaded, not run on the host."""
        return True
