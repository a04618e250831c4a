"""Words from text: takes of words in many voices, spoken by synthesizers on this computer.

See `docs/audio.md`.
"""
