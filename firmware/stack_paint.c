#include "optimize_size.h"

#include "stack_paint.h"

#include <avr/io.h>

#define PAINT 0xC5
#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)

extern uint8_t _end; /* the linker's symbol for the end of static data, down to which the stack may
                      * grow */

/* Runs at reset, before main: in .init3 the stack pointer is set and nothing has been pushed. It is
 * assembly, because compiled code could use the stack that it is painting. */
/* clang-format off */
__asm__(".section .init3,\"ax\",@progbits\n"
        "    ldi r30, lo8(_end)\n"
        "    ldi r31, hi8(_end)\n"
        "    ldi r24, " VALUE_OF(PAINT) "\n"
        "    ldi r25, hi8(" VALUE_OF(RAMEND) " + 1)\n"
        "1:  st Z+, r24\n"
        "    cpi r30, lo8(" VALUE_OF(RAMEND) " + 1)\n"
        "    cpc r31, r25\n"
        "    brlo 1b\n"
        ".text\n");
/* clang-format on */

uint16_t stack_peak(void)
{
    const uint8_t *lowest = &_end;

    /* It ends at a return address at the latest, since no return address points to 0xC5.., where
     * there is no flash. */
    while (*lowest == PAINT) {
        lowest++;
    }
    return (uint16_t)(RAMEND + 1u - (uint16_t)lowest);
}
