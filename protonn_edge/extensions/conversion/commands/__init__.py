"""The command of this extension, and its work."""
