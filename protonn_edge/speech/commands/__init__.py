"""The command that speaks words."""
