"""The studio: a page on this computer in which takes are recorded, edited, trained and run.

Its state is a folder of plain files, which commands read and write. Actions are commands in child
processes; only the serial line of a board is read by a thread. See `docs/studio.md`.
"""
