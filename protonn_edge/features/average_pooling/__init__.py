"""Average pooling: a smaller image of averages instead of the original one."""
