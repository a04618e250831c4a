"""The kind of classifier that joins two others."""
