"""From a sensor to a labelled recording: a logger's firmware, its frames, and the file."""
