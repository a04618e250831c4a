/* The program on the board: receive a byte, decode it, answer when it completes a request.
 *
 * All work is done here and not in interrupts; while there is none, the chip sleeps.
 */
#include "optimize_size.h"

#include "busy_pin.h"
#include "cycle_counter.h"
#include "model.h"
#include "requests.h"
#include "uart.h"
#include "watchdog.h"

#include <avr/interrupt.h>

int main(void)
{
    watchdog_start();
    cycle_counter_start();
    busy_pin_start();
    uart_start();
    sei();
#ifdef PNN_TEACHABLE
    pnn_recall();
#endif
    for (;;) {
        requests_take(uart_receive());
    }
}
