"""The bench: boards under test, for pytest."""
