/*
 * Runs a program for an AVR on simavr's core, and measures calls of some of its functions: cycles
 * without interrupts, and stack. It shares nothing with the package that bounds both.
 *
 * call_meter IMAGE MCU HZ CYCLES EECR EEPROM_CYCLES MAIN FUNCTION...
 *
 * IMAGE is the content of flash from address 0 on; MAIN and the functions are byte addresses. The chip
 * stops while it reads or writes its EEPROM, and is busy for EEPROM_CYCLES after a write; EECR is the
 * I/O address of the register that does this. Each line of output has the number of a function's calls,
 * the fewest and the most cycles, and the most bytes of stack. A last line has the stack of the whole
 * program, and the number of interrupts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_interrupts.h>

enum { FUNCTIONS_MAX = 512, CALLS_MAX = 256, LEVELS_MAX = 8, FLASH_BYTES = 1 << 18 };

static avr_t *avr;

static struct function {
    unsigned long address, calls, least, most, stack;
} functions[FUNCTIONS_MAX];

/* Calls that have not returned; each counts only what runs at its own level of interrupts. */
static struct call {
    struct function *function;
    unsigned level;
    unsigned sp; /* at its first instruction */
    unsigned long returns_to, cycles, deepest;
} calls[CALLS_MAX];

static unsigned n_functions, n_calls, level;

static unsigned stack_pointer(void)
{
    return avr->data[R_SPL] | avr->data[R_SPH] << 8;
}

static unsigned word_at(unsigned long address)
{
    return avr->flash[address] | avr->flash[address + 1] << 8;
}

static void fail(const char *why)
{
    fprintf(stderr, "%s at 0x%lx after %llu cycles\n", why, (unsigned long)avr->pc, (unsigned long long)avr->cycle);
    exit(1);
}

/* Whether a function has not returned to where a call of it would return now: it loops to its start. */
static int is_in(const struct function *function)
{
    for (unsigned i = 0; i < n_calls; ++i) {
        if (calls[i].function == function && calls[i].level == level && calls[i].sp == stack_pointer()) {
            return 1;
        }
    }
    return 0;
}

static void begin_calls(void)
{
    for (unsigned i = 0; i < n_functions; ++i) {
        if (avr->pc != functions[i].address || is_in(&functions[i])) {
            continue;
        }
        if (n_calls == CALLS_MAX) {
            fail("too many calls");
        }
        struct call *call = &calls[n_calls++];
        *call = (struct call){&functions[i], level, stack_pointer(), 0, 0, 0};
        for (unsigned byte = 1; byte <= avr->address_size; ++byte) {
            call->returns_to = call->returns_to << 8 | avr->data[call->sp + byte];
        }
        call->returns_to *= 2;
    }
}

/* Several functions can return at once: one that ends with a jump to another one. */
static void end_calls(unsigned sp)
{
    while (n_calls > 0) {
        struct call *call = &calls[n_calls - 1];
        if (call->level != level || avr->pc != call->returns_to || sp != call->sp + avr->address_size) {
            return;
        }
        struct function *function = call->function;
        if (function->calls++ == 0 || call->cycles < function->least) {
            function->least = call->cycles;
        }
        if (call->cycles > function->most) {
            function->most = call->cycles;
        }
        if (call->deepest > function->stack) {
            function->stack = call->deepest;
        }
        --n_calls;
    }
}

/* Runs an instruction and returns its cycles. */
static unsigned long step(unsigned eecr, unsigned long busy_cycles, avr_cycle_count_t *busy_until)
{
    const unsigned word = word_at(avr->pc);
    const unsigned set_bit = 0x9A00 | eecr << 3;
    const avr_cycle_count_t before = avr->cycle;
    const avr_flashaddr_t pc = avr->pc;
    avr->pc = avr_run_one(avr);
    /* simavr takes an ADIW or SBIW for two words if its bits are like those of a JMP or CALL. */
    const unsigned skipped = word_at(pc + 2);
    const int skips = (word & 0xFC00) == 0x1000 || (word & 0xFD00) == 0x9900 || (word & 0xFC08) == 0xFC00;
    if (skips && (skipped & 0xFE0C) == 0x960C && avr->pc == pc + 6) {
        avr->pc = pc + 4;
        avr->cycle = before + 2;
    }
    if (word == set_bit) { /* EERE */
        avr->cycle += 4;
    }
    if (word == (set_bit | 1)) { /* EEPE */
        avr->cycle += 2;
        *busy_until = avr->cycle + busy_cycles;
    }
    if (*busy_until > avr->cycle) {
        avr->data[eecr + 0x20] |= 2;
    } else {
        avr->data[eecr + 0x20] &= (uint8_t)~2;
    }
    return (unsigned long)(avr->cycle - before);
}

static void load(const char *path)
{
    static uint8_t image[FLASH_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail("no image");
    }
    const size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    avr_loadcode(avr, image, (uint32_t)size, 0);
}

int main(int count, char **arguments)
{
    if (count < 9 || count - 8 > FUNCTIONS_MAX) {
        return 2;
    }
    avr = avr_make_mcu_by_name(arguments[2]);
    if (!avr || avr_init(avr) != 0) {
        return 2;
    }
    avr->frequency = (uint32_t)strtoul(arguments[3], NULL, 0);
    avr->log = 0;
    load(arguments[1]);
    const avr_cycle_count_t end = strtoull(arguments[4], NULL, 0);
    const unsigned eecr = (unsigned)strtoul(arguments[5], NULL, 0);
    const unsigned long busy_cycles = strtoul(arguments[6], NULL, 0);
    const unsigned long start = strtoul(arguments[7], NULL, 0);
    for (int i = 8; i < count; ++i) {
        functions[n_functions++].address = strtoul(arguments[i], NULL, 0);
    }
    unsigned lowest = avr->ramend, begun = 0, previous = 0, settles = 0;
    unsigned long interrupts = 0;
    avr_cycle_count_t busy_until = 0;
    while (avr->cycle < end) {
        begun |= avr->pc == start;
        if (n_functions > 0) {
            begin_calls();
        }
        const unsigned word = word_at(avr->pc);
        const unsigned long cycles = step(eecr, busy_cycles, &busy_until);
        if (avr->state != cpu_Running) {
            fail("the program stopped");
        }
        const unsigned sp = stack_pointer();
        /* Compilers write SPH, SREG and SPL: while only a half is written, SP means nothing. */
        settles = (word & 0xFE0F) == 0xBE0E ? 2 : settles > 0 ? settles - 1 : 0;
        if ((word & 0xFE0F) == 0xBE0D) {
            settles = 0;
        }
        for (unsigned i = 0; i < n_calls; ++i) {
            if (calls[i].level == level) {
                calls[i].cycles += cycles;
                if (!settles && calls[i].sp + avr->address_size - sp > calls[i].deepest && sp <= calls[i].sp + avr->address_size) {
                    calls[i].deepest = calls[i].sp + avr->address_size - sp;
                }
            }
        }
        if (begun && !settles && sp < lowest) {
            lowest = sp;
        }
        if (word == 0x9518 && level > 0) { /* RETI */
            end_calls(sp);
            --level;
        }
        end_calls(sp);
        if (avr->cycle_timers.timer && avr->cycle_timers.timer->when <= avr->cycle) {
            avr_cycle_timer_process(avr);
        }
        previous = (unsigned)avr->pc;
        avr_service_interrupts(avr);
        if (avr->pc != previous) {
            avr->cycle += 4 + avr->address_size - 2;
            ++interrupts;
            if (++level == LEVELS_MAX) {
                fail("nested interrupts");
            }
            if (begun && stack_pointer() < lowest) {
                lowest = stack_pointer();
            }
        }
    }
    for (unsigned i = 0; i < n_functions; ++i) {
        const struct function *each = &functions[i];
        printf("%lu %lu %lu %lu\n", each->calls, each->least, each->most, each->stack);
    }
    printf("%u %lu\n", avr->ramend - lowest, interrupts);
    return 0;
}
