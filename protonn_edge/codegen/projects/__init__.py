"""From a model to a project with firmware that fits its board."""
