"""Raw features become bytes."""
