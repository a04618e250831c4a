/* The clock of HELLO is the core's, which may be known only when it runs. */
#ifndef CLOCK_H
#define CLOCK_H

#include "harness.h"

#undef F_CPU
#define F_CPU harness_clock_hz()

#endif
