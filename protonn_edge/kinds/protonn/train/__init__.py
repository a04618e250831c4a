"""Training of ProtoNN."""
