"""Editing takes of recordings: cut, relabel, delete and undo, and all other bytes as they were.

A recording is a file that `record` wrote, or a folder of takes. See `docs/recording.md`.
"""
