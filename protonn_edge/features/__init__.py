"""The stages that compute features, one folder each."""
