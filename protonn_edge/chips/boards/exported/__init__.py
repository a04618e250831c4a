"""Boards with other chips, for which models are exported; for some, there is firmware, too."""
