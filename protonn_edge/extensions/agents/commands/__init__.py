"""The commands `skill` and `mcp`."""
