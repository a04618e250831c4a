"""Average pooling: a smaller image of averages, in place of a larger one."""
