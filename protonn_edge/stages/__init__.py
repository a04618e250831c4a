"""The stages of a model, a folder each."""
