"""Sound: energies of bands over short frames, in integers, without storing samples."""
