"""An example of a kind of stage: it multiplies each input by its own factor."""
