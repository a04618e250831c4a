"""The option of `export` that this extension adds."""
