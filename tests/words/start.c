/*
 * A program for an emulated chip of 32 bits without an operating system: main() classifies points,
 * compares the scores with those of NumPy, and prints the numbers of both by semihosting.
 */
#include <stddef.h>
#include <stdint.h>

#include "pnn_model.h"

#include "points.h"

int main(void);
void start(void);

#ifdef __arm__
extern uint32_t stack_top;
static long host(long operation, const void *argument)
{
    register long r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void fault(void);
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top,
    (const void *)start,
    (const void *)fault,
    (const void *)fault,
};
#else
static long host(long operation, const void *argument)
{
    register long a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".balign 16\n.option push\n.option norvc\nslli zero, zero, 0x1f\nebreak\n"
                     "srai zero, zero, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

__asm__(".section .vectors, \"ax\"\nla sp, stack_top\nj start\n.text");
#endif

static void print(const char *text) { host(4, text); }

static void print_number(uint32_t number)
{
    char digits[12];
    char *first = digits + 11;
    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    print(first);
}

static void stop(uint32_t differing)
{
    print("points ");
    print_number(POINTS);
    print(" differing ");
    print_number(differing);
    print("\n");
    host(0x18, (const void *)(differing ? 0x20023 : 0x20026));
    for (;;) {
    }
}

#ifdef __arm__
static void fault(void) { stop(POINTS + 1u); }
#endif

/* The compiler calls these. Volatile, so that it does not find them in themselves. */
void *memcpy(void *to, const void *from, size_t count)
{
    volatile char *next = to;
    for (const char *each = from; count > 0; --count) {
        *next++ = *each++;
    }
    return to;
}

void *memset(void *to, int value, size_t count)
{
    for (volatile char *next = to; count > 0; --count) {
        *next++ = (char)value;
    }
    return to;
}

void start(void)
{
    extern char bss_begin, bss_end; /* nothing else has to be set: there are no other variables */
    memset(&bss_begin, 0, (size_t)(&bss_end - &bss_begin));
    main();
}

int main(void)
{
    uint32_t differing = 0;
    for (uint32_t i = 0; i < POINTS; ++i) {
        uint32_t equal = pnn_predict(points + i * PNN_FEATURES) == classes[i];
        for (uint32_t l = 0; l < PNN_CLASSES; ++l) {
            equal &= pnn_scores()[l] == scores[i * PNN_CLASSES + l];
        }
        differing += !equal;
    }
    stop(differing);
    return 0;
}
