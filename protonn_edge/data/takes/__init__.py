"""Folders: takes of recordings, files named after classes, and images."""
