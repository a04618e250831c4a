/* The program on the board: receive a byte, decode it, answer when it completes a request.
 *
 * All work happens here and not in interrupts; while there is none, the chip sleeps.
 */
#include "cycle_counter.h"
#include "requests.h"
#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>

int main(void)
{
    const uint8_t reset_cause = MCUSR;

    /* After a reset by the watchdog it is still armed, with its shortest time. */
    MCUSR = 0;
    wdt_disable();

    requests_start(reset_cause);
    cycle_counter_start();
    uart_start();
    sei();
    for (;;) {
        requests_take(uart_receive());
    }
}
