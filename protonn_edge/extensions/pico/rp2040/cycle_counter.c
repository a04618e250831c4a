#include "optimize_size.h"

#include "cycle_counter.h"

volatile uint32_t cycle_counter_wraps;

void cycle_counter_start(void)
{
    SYST_RVR = (UINT32_C(1) << CYCLE_COUNTER_BITS) - 1u;
    cycle_counter_restart();
    SYST_CSR = BIT(2) | BIT(1) | BIT(0); /* the CPU's clock, an exception at 0, on */
}

void cycle_counter_wrapped(void) { cycle_counter_wraps++; }
