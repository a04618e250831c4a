"""The options of `verify` that this extension adds."""
