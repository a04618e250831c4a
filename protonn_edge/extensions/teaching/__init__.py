"""Teaching: a device learns examples of its owner, in EEPROM.

See `docs/teaching.md`. A kind of classifier that can be taught has its part in a folder "teaching".
"""

BRINGS = {
    "answer stream": "listener:TaughtStream",
    "command inspect": "commands:InspectOptions",
    "command monitor": "monitor:MonitorOptions",
    "messages": "messages:MESSAGES",
    "parts": "part:part_of",
    "proof": "part:PROOF",
    "report file": "panel:FILE",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
