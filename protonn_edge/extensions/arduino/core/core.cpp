#include <Arduino.h>

#define R(address) (*(volatile uint32_t *)(address))
#define B(address) (*(volatile uint8_t *)(address))

/* Each machine: has(), get() and put() of its serial line, and ticks() of a timer, so many in a
 * microsecond. With QEMU's option -icount, an instruction takes 2^SHIFT ns. */
#define SHIFT 6

#if defined(MACHINE_MPS2) /* ARM's FPGA images: CMSDK UART and timer */
#define TICKS 25u
static void start_line()
{
    R(0x40004010) = 217; /* of 25 MHz: 115,200 baud */
    R(0x40004008) = 3;
}
static bool has() { return R(0x40004004) & 2; }
static uint8_t get() { return (uint8_t)R(0x40004000); }
static void put(uint8_t byte)
{
    while (R(0x40004004) & 1) {
    }
    R(0x40004000) = byte;
}
static void start_ticks()
{
    R(0x40000008) = R(0x40000004) = ~0u;
    R(0x40000000) = 1;
}
static uint32_t ticks() { return ~R(0x40000004); }

#elif defined(MACHINE_NRF51) /* UART and TIMER0 */
#define TICKS 16u
static void start_line()
{
    R(0x40002500) = 4;
    R(0x40002524) = 0x01D7E000;
    R(0x40002000) = R(0x40002008) = 1;
}
static bool has() { return R(0x40002108); }
static uint8_t get()
{
    R(0x40002108) = 0;
    return (uint8_t)R(0x40002518);
}
static void put(uint8_t byte)
{
    R(0x4000211C) = 0;
    R(0x4000251C) = byte;
    while (!R(0x4000211C)) {
    }
}
static void start_ticks()
{
    R(0x40008510) = 0;
    R(0x40008508) = 3;
    R(0x40008000) = 1;
}
static uint32_t ticks()
{
    R(0x40008040) = 1;
    return R(0x40008540);
}

#elif defined(MACHINE_VIRT) /* RISC-V: a 16550, and mcycle, which counts ns with -icount */
#define TICKS 1000u
static void start_line() {}
static bool has() { return B(0x10000005) & 1; }
static uint8_t get() { return B(0x10000000); }
static void put(uint8_t byte)
{
    while (!(B(0x10000005) & 0x20)) {
    }
    B(0x10000000) = byte;
}
static void start_ticks() {}
static uint32_t ticks()
{
    uint32_t count;

    __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop"
                     : "=r"(count));
    return count;
}

#elif defined(MACHINE_SIM) /* Xtensa: calls of the simulator, and ccount */
#define TICKS 40u
static int simcall(int number, int a, const void *b, int c)
{
    register int r2 __asm__("a2") = number;
    register int r3 __asm__("a3") = a;
    register const void *r4 __asm__("a4") = b;
    register int r5 __asm__("a5") = c;

    __asm__ volatile("simcall" : "+r"(r2), "+r"(r3) : "r"(r4), "r"(r5) : "memory");
    return r2;
}
static void start_line() {}
static bool has()
{
    static const uint32_t now[2] = {0, 0};

    return simcall(29, 0, (const void *)1, (int)(intptr_t)now) == 1;
}
static uint8_t get()
{
    uint8_t byte = 0;

    simcall(3, 0, &byte, 1);
    return byte;
}
static void put(uint8_t byte) { simcall(4, 1, &byte, 1); }
static void start_ticks() {}
static uint32_t ticks()
{
    uint32_t count;

    __asm__ volatile("rsr %0, ccount" : "=a"(count));
    return count;
}
#endif

SerialPort Serial;
void SerialPort::begin(unsigned long) { start_line(); }
int SerialPort::available() { return has(); }
int SerialPort::read() { return has() ? get() : -1; }
size_t SerialPort::write(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put(bytes[i]);
    }
    return n;
}

static uint64_t elapsed() /* ticks */
{
    static uint32_t last;
    static uint64_t sum;
    const uint32_t now = ticks();

    sum += now - last;
    last = now;
    return sum;
}
uint32_t micros() { return (uint32_t)(elapsed() / TICKS); }
uint32_t core_instructions() { return (uint32_t)(elapsed() * (2000u / TICKS) >> (SHIFT + 1)); }

extern "C" {
extern uint8_t data_from[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
void *memcpy(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
    return to;
}
void *memset(void *to, int value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((volatile uint8_t *)to)[i] = (uint8_t)value;
    }
    return to;
}
void core_main(void)
{
    memcpy(data_begin, data_from, (size_t)(data_end - data_begin));
    memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
    start_ticks();
    setup();
    for (;;) {
        loop();
    }
}
#if defined(__arm__)
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, (void *)core_main};
__asm__(".global start\nstart = core_main");
#elif defined(__riscv)
__asm__(".section .vectors,\"ax\"\n.global start\nstart: la sp, stack_top\n j core_main\n");
#else
__asm__(".section .vectors, \"ax\"\n.global start\nstart: j first\n.text\n.literal_position\n"
        "first: movi a1, stack_top\nmovi a2, core_main\njx a2");
/* In an ESP8266's ROM, but not in Debian's libgcc. */
uint32_t __udivsi3(uint32_t a, uint32_t b)
{
    uint32_t quotient = 0;
    uint32_t rest = 0;

    for (int bit = 31; bit >= 0; bit--) {
        rest = rest << 1 | (a >> bit & 1);
        if (rest >= b) {
            rest -= b;
            quotient |= 1u << bit;
        }
    }
    return quotient;
}
uint64_t __muldi3(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    for (; b != 0; b >>= 1, a <<= 1) {
        product += b & 1 ? a : 0;
    }
    return product;
}
#endif
}
