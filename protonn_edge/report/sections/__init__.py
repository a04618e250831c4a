"""Sections of the report that belong to other rooms: a module each, whose `SECTION` is shown."""
