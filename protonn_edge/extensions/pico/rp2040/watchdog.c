#include "optimize_size.h"

#include "watchdog.h"

#define MARK UINT32_C(0x9D4E3C71)
#define ALL_BUT_OSCILLATORS UINT32_C(0x1FFFC)
#define HAD_POWER_ON BIT(8)

#define KEPT __attribute__((section(".noinit"))) /* not cleared at startup */

static uint32_t mark KEPT; /* MARK if the SRAM was kept */
static uint16_t resets KEPT;
uint8_t watchdog_cause;

void watchdog_start(void)
{
    if (WATCHDOG_REASON != 0) {
        watchdog_cause = 8;
    } else {
        watchdog_cause = CHIP_RESET & HAD_POWER_ON ? 1 : 2;
    }
    if (mark != MARK || watchdog_cause == 1) {
        mark = MARK;
        resets = 0;
    } else if (resets != UINT16_MAX) {
        resets++;
    }
    PSM_WDSEL = ALL_BUT_OSCILLATORS;
    watchdog_feed();
    WATCHDOG_CTRL = BIT(30); /* on, also while a debugger is at work */
}

uint16_t watchdog_resets(void) { return resets; }
