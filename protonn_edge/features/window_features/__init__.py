"""Features of windows of raw samples, in integers, before the projection."""
