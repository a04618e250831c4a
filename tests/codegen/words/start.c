/*
 * The start of a program for an emulated chip of 32 bits without an operating system, and printing by
 * semihosting. Variables without a value are set to 0; the emulator loads all others.
 */
#include "start.h"

#include <stddef.h>

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

static void fault(void)
{
    print("fault\n");
    stop(0);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top,
    (const void *)start,
    (const void *)fault,
    (const void *)fault,
};
#elif defined __riscv
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
#else /* an Xtensa */
static long simulator(long operation, long first, const void *second, size_t third)
{
    register long a2 __asm__("a2") = operation;
    register long a3 __asm__("a3") = first;
    register const void *a4 __asm__("a4") = second;
    register size_t a5 __asm__("a5") = third;
    __asm__ volatile("simcall" : "+r"(a2) : "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a2;
}

__asm__(".section .vectors, \"ax\"\nj first\n.text\n.literal_position\n"
        "first: movi a1, stack_top\nmovi a2, start\njx a2");
#endif

void print(const char *text)
{
#ifdef __XTENSA__
    size_t length = 0;
    while (text[length]) {
        ++length;
    }
    simulator(4, 1, text, length);
#else
    host(4, text);
#endif
}

void print_number(uint32_t number)
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

void stop(int succeeded)
{
#ifdef __XTENSA__
    simulator(1, !succeeded, NULL, 0);
#else
    host(0x18, (const void *)(succeeded ? 0x20026 : 0x20023));
#endif
    for (;;) {
    }
}

#ifndef HAS_LIBRARY
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
#endif

#ifdef __XTENSA__
/* Debian's compiler for this core has no division; that of an ESP32 does. */
unsigned int __udivsi3(unsigned int dividend, unsigned int divisor);
unsigned int __umodsi3(unsigned int dividend, unsigned int divisor);

unsigned int __umodsi3(unsigned int dividend, unsigned int divisor)
{
    return dividend - __udivsi3(dividend, divisor) * divisor;
}

unsigned int __udivsi3(unsigned int dividend, unsigned int divisor)
{
    unsigned int quotient = 0;
    uint64_t rest = dividend;
    for (int bit = 31; bit >= 0; --bit) {
        if (rest >> bit >= divisor) {
            rest -= (uint64_t)divisor << bit;
            quotient |= 1u << bit;
        }
    }
    return quotient;
}
#endif

void start(void)
{
    extern char bss_begin, bss_end;
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20; /* the unit for floats */
#endif
    for (volatile char *next = &bss_begin; next < &bss_end;) {
        *next++ = 0;
    }
    main();
    stop(1);
}
