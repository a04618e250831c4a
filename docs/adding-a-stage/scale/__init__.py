"""An example of a kind of stage: each input times a factor of its own."""
