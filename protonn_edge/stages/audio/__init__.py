"""Sound: energies of bands over short frames, in integers, of samples that are never held."""
