"""Generated C for chips of 32 bits: on this computer, and on emulated cores."""
