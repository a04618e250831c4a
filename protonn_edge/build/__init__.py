"""From a model to a project whose firmware fits its board."""
