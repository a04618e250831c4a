"""The commands of boards with sensors, and the options that these add to others."""
