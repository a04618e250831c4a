"""Extensions: ideas that add to the core. Each is one folder, and gone if that is deleted."""
