"""Observation: a device counts its answers, and compares the counts with the expected ones.

See `docs/health.md`.
"""

BRINGS = {
    "answer statistics": "answers:ExpectedAnswers",
    "answer stream": "listener:HealthStream",
    "command build": "commands:ObserveOptions",
    "command export": "commands:ObserveOptions",
    "command monitor": "monitor:HealthOptions",
    "device model": "answers:OBSERVED",
    "measured": "session:MEASURED",
    "messages": "messages:MESSAGES",
    "parts": "part:part_of",
    "proof": "part:PROOF",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""
