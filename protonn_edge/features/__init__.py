"""The stages that compute features, a folder each."""
