"""The model: its float form, its file, its integer form with proven ranges."""
