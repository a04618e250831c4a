"""Teaching: a device learns examples of its owner, in EEPROM, which vote beside the prototypes.

See `docs/teaching.md`.
"""

BRINGS = {
    "answer stream": "listener:TaughtStream",
    "command inspect": "commands:InspectOptions",
    "command monitor": "monitor:MonitorOptions",
    "command report": "commands:ReportOptions",
    "messages": "messages:MESSAGES",
    "parts": "part:part_of",
    "proof": "part:PROOF",
    "protonn.voters": "model:Teachable",
    "protonn.kernels": "loop:TaughtVoting",
    "protonn.parameters": "parameters:TeachingParameters",
    "protonn.refusals": "checks:REFUSALS",
    "protonn.notices": "checks:notices",
    "options": "parameters:GROUPS",
    "protonn.training": "training:TeachableTraining",
}
"""What the rest of the package asks for; see `protonn_edge.extensions`."""
