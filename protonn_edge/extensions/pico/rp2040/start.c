/* From the second stage of the start to the loop that answers requests: vectors, variables, clocks.
 */
#include "optimize_size.h"

#include "chip.h"

#include "busy_pin.h"
#include "cycle_counter.h"
#include "requests.h"
#include "stack_paint.h"
#include "uart.h"
#include "watchdog.h"

#define CRYSTAL_HZ 12000000u
#define PLL_DIVIDERS 12u /* after the oscillator of the PLL: 6 and 2 */
#define PLL_MULTIPLIER (F_CPU / (CRYSTAL_HZ / PLL_DIVIDERS))

#if F_CPU != PLL_MULTIPLIER * (CRYSTAL_HZ / PLL_DIVIDERS) || PLL_MULTIPLIER < 63 ||                \
    PLL_MULTIPLIER > 133
#error "The clock is a number of MHz from 63 to 133"
#endif

extern uint32_t zeroed_start[];
extern uint32_t zeroed_end[];
extern uint32_t stack_end[];

void start(void);
static void fault(void);

/* The stack and the handlers of the core's exceptions (ARMv6-M, B1.5.3); no interrupt is used. */
struct vectors {
    uint32_t *stack;
    void (*handlers[15])(void);
};
__attribute__((section(".vectors"), used))
const struct vectors vectors = {stack_end, {start, fault, fault, [14] = cycle_counter_wrapped}};

/* The watchdog ends it, and then reports the reset's cause. */
static void fault(void)
{
    for (;;) {
    }
}

static void leave_reset(uint32_t peripherals)
{
    CLEARS(RESETS_ADDRESS) = peripherals;
    while ((RESETS_RESET_DONE & peripherals) != peripherals) {
    }
}

/* From the ring oscillator to the crystal, and from there to the PLL. */
static void start_clocks(void)
{
    XOSC_STARTUP = 47; /* times 256 periods: 1 ms */
    XOSC_CTRL = 0xFABu << 12 | 0xAA0u;
    while (!(XOSC_STATUS & BIT(31))) {
    }
    CLK_REF_CTRL = 2; /* the crystal */
    while (!(CLK_REF_SELECTED & BIT(2))) {
    }
    CLK_SYS_CTRL = 0; /* after a reset by the watchdog, too */
    while (!(CLK_SYS_SELECTED & BIT(0))) {
    }

    leave_reset(RESETS_PLL_SYS);
    PLL_CS = 1; /* the crystal, undivided */
    PLL_FBDIV_INT = PLL_MULTIPLIER;
    CLEARS(PLL_PWR_ADDRESS) = BIT(5) | BIT(0); /* power for the oscillator and the rest */
    while (!(PLL_CS & BIT(31))) {              /* until it is locked */
    }
    PLL_PRIM = 6u << 16 | 2u << 12;
    CLEARS(PLL_PWR_ADDRESS) = BIT(3); /* power for the dividers */

    CLK_SYS_CTRL = 1; /* the PLL */
    while (!(CLK_SYS_SELECTED & BIT(1))) {
    }
    CLK_PERI_CTRL = BIT(11); /* on, from the system's clock */
    WATCHDOG_TICK = BIT(9) | CRYSTAL_HZ / 1000000u;
}

void start(void)
{
    for (volatile uint32_t *each = zeroed_start; each != zeroed_end; each++) {
        *each = 0;
    }
    stack_paint();
    start_clocks();
    leave_reset(RESETS_IO_BANK0 | RESETS_PADS_BANK0 | RESETS_UART0);
    watchdog_start();
    cycle_counter_start();
    busy_pin_start();
    uart_start();
    for (;;) {
        requests_take(uart_receive());
    }
}
