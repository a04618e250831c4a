"""Sound: clips that begin with a sound, and energies of their bands as features, on the device.

See `docs/audio.md`. The stage is in `features`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import Extension


class SoundExtension(Extension):
    """The kind of features is in `features`."""

    name: ClassVar[str] = "sound"


EXTENSION = SoundExtension()
