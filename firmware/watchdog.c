#include "optimize_size.h"

#include "watchdog.h"

#include <avr/io.h>

#define MARK 0x9D4Eu
#define HUNG CYCLE_COUNTER_SECOND

/* The data address of the watchdog's control register. */
#define CONTROL_REGISTER "0x60"

#define KEPT __attribute__((section(".noinit"))) /* not cleared at startup */

static uint16_t mark KEPT; /* MARK if the SRAM was kept */
static uint16_t resets KEPT;
uint8_t watchdog_cause KEPT;

/* Runs early, because after a reset by the watchdog, the watchdog continues with its shortest time.
 * Its flag in MCUSR must be cleared first, and the second write must follow within 4 cycles (data
 * sheet 8271, 10.9.2). Assembly needs no stack; r1 is 0 in .init3. */
/* clang-format off */
__asm__(".section .init3,\"ax\",@progbits\n"
        "    wdr\n"
        "    in r24, 0x34\n" /* MCUSR */
        "    out 0x34, r1\n"
        "    sts watchdog_cause, r24\n"
        "    ldi r24, 0x18\n" /* WDCE, WDE */
        "    sts " CONTROL_REGISTER ", r24\n"
        "    sts " CONTROL_REGISTER ", r1\n"
        ".text\n");
/* clang-format on */

static uint8_t cause_by_memory(void)
{
    if (mark != MARK) {
        return _BV(PORF);
    }
    return cycle_counter_overflows >= HUNG ? _BV(WDRF) : _BV(EXTRF);
}

void watchdog_start(void)
{
    if (watchdog_cause == 0) {
        watchdog_cause = cause_by_memory();
    }
    if (mark != MARK || (watchdog_cause & _BV(PORF))) {
        mark = MARK;
        resets = 0;
    } else if (resets != UINT16_MAX) {
        resets++;
    }
    wdt_enable(WDTO_2S);
}

uint16_t watchdog_resets(void) { return resets; }
