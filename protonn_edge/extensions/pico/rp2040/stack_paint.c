#include "optimize_size.h"

#include "stack_paint.h"

#define PAINT UINT32_C(0xC5C5C5C5)

extern uint32_t stack_start[]; /* the lowest address */
extern uint32_t stack_end[];

void stack_paint(void)
{
    const uint32_t *end;

    __asm__ volatile("mov %0, sp" : "=r"(end));
    for (volatile uint32_t *each = stack_start; each < end; each++) {
        *each = PAINT;
    }
}

uint16_t stack_peak(void)
{
    const uint32_t *lowest = stack_start;

    while (lowest != stack_end && *lowest == PAINT) {
        lowest++;
    }
    return (uint16_t)((uintptr_t)stack_end - (uintptr_t)lowest);
}
