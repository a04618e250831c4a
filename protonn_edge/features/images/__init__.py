"""The shared parts of the stages of images."""
