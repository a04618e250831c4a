"""The RP2040, the chip of a Raspberry Pi Pico: built by arm-none-eabi-gcc, emulated by rp2040py.

See `docs/pico.md`.
"""

BRINGS = {"family": "family:RP2040"}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
