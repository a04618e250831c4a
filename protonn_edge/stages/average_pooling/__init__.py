"""Average pooling: averages of areas of an image."""
