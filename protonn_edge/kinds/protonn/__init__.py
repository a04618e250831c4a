"""ProtoNN."""
