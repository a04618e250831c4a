/*
 * What is wired to pins: buttons, and a serial line.
 *
 * The line is on two pins of port B, for a program that samples and sets them itself: 8 data bits,
 * no parity, one stop bit, at the baud rate of the board's description.
 *
 * The program listens while it holds its sending pin high, as it does between bytes; until then,
 * bytes wait.
 */
#include "uno.h"

#include <ctype.h>
#include <simavr/avr_ioport.h>

/* ---- pins that something holds high or low ---- */

static struct {
    uint8_t mask, levels;
} held['Z' - 'A' + 1]; /* of each port */

void pins_hold(char port, unsigned bit, bool is_held, bool high)
{
    uint8_t *mask = &held[port - 'A'].mask, *levels = &held[port - 'A'].levels;
    *mask = (uint8_t)((*mask & ~(1u << bit)) | is_held << bit);
    *levels = (uint8_t)((*levels & ~(1u << bit)) | high << bit);
    avr_ioport_external_t pulled = {.name = (unsigned char)port, .mask = *mask, .value = *levels};
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(port), &pulled);
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), (int)bit), high);
}

/* ---- buttons ---- */

enum { BUTTON_MS = 200 };

/* The parameter is the port's letter and the bit. */
static avr_cycle_count_t release(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    const unsigned pin = (unsigned)(uintptr_t)parameter, bit = pin & 7;
    const char port = (char)(pin >> 3);
    avr_ioport_state_t state;
    avr_ioctl(avr, AVR_IOCTL_IOPORT_GETSTATE(port), &state);
    pins_hold(port, bit, false, (state.port >> bit & 1) != 0); /* which sets the pull-up */
    return 0;
}

/* After a reset, none is pressed. simavr clears the registers of all pins, but would see no change when
 * the program turns on a pull-up again. */
static void on_pins_reset(avr_io_t *io)
{
    for (char port = 'A'; port <= 'Z'; port++) {
        avr_irq_t *first = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), 0);
        for (unsigned bit = 0; first && bit < 8; bit++) {
            first[bit].value = 0;
        }
        const uint8_t released = held[port - 'A'].levels;
        held[port - 'A'].mask = released;
        avr_ioport_external_t pulled = {
            .name = (unsigned char)port, .mask = released, .value = released};
        avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(port), &pulled);
    }
}

void pins_watch_resets(void)
{
    static avr_io_t io = {.kind = "all pins", .reset = on_pins_reset};
    avr_register_io(avr, &io);
}

bool pins_press(const char *name)
{
    const char port = name[0];
    const unsigned bit = (unsigned)(name[1] - '0');
    if (!isupper((unsigned char)port) || bit > 7 ||
        !avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), (int)bit)) {
        return false;
    }
    void *parameter = (void *)(uintptr_t)((unsigned)port << 3 | bit);
    pins_hold(port, bit, true, false);
    avr_cycle_timer_cancel(avr, release, parameter);
    avr_cycle_timer_register(avr, BUTTON_MS * (chip.clock_hz / 1000), release, parameter);
    return true;
}

enum { FRAME_BITS = 10, STOP_BIT = 9 };
enum { PINB = 0x36, DDRB = 0x37, PORTB = 0x38 }; /* of the ATtinies */

static struct {
    unsigned rx, tx; /* bits of port B */
    uint32_t baud;
    bool retry_pending; /* a timer will check again whether the program listens */
} pins;

static struct {
    bool busy;
    avr_cycle_count_t start;
    unsigned bit;
    uint8_t byte;
} to_chip, from_chip;

/* Cycles from the beginning of the start bit to that of a bit, plus `half` half bits. */
static avr_cycle_count_t time_of(unsigned bit, unsigned half)
{
    return ((avr_cycle_count_t)(2 * bit + half) * chip.clock_hz + pins.baud) / (2 * pins.baud);
}

/* ---- to the chip ---- */

static void drive(bool high) { pins_hold('B', pins.rx, true, high); }

static bool is_output(void) { return avr->data[DDRB] >> pins.tx & 1; }

static bool sends_high(void) { return avr->data[PORTB] >> pins.tx & 1; }

static void start_byte(avr_cycle_count_t when)
{
    to_chip.start = when;
    to_chip.bit = 0;
    to_chip.byte = wire_take();
    drive(false);
}

/* Runs at the beginning of each bit, and at the end of the stop bit. */
static avr_cycle_count_t on_bit(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    to_chip.bit++;
    if (to_chip.bit == FRAME_BITS) {
        wire_activity.bytes_moved++;
        to_chip.busy = wire_waits();
        if (!to_chip.busy) {
            return 0;
        }
        start_byte(when);
    } else {
        drive(to_chip.bit == STOP_BIT || (to_chip.byte >> (to_chip.bit - 1) & 1));
    }
    return to_chip.start + time_of(to_chip.bit + 1, 0);
}

static void start_line(void);

static avr_cycle_count_t retry(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    pins.retry_pending = false;
    start_line();
    return 0;
}

static void start_line(void)
{
    if (to_chip.busy || pins.retry_pending || !wire_waits()) {
        return;
    }
    if (is_output() && sends_high()) {
        to_chip.busy = true;
        start_byte(avr->cycle);
        avr_cycle_timer_register(avr, time_of(1, 0), on_bit, NULL);
    } else {
        pins.retry_pending = true;
        avr_cycle_timer_register(avr, time_of(FRAME_BITS, 0), retry, NULL);
    }
}

/* ---- from the chip ---- */

/* Runs in the middle of bits, from the start bit on. */
static avr_cycle_count_t on_sample(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    if (from_chip.bit == STOP_BIT) {
        from_chip.busy = false;
        if (sends_high()) { /* a valid stop bit */
            link_send(from_chip.byte);
            wire_activity.bytes_moved++;
        }
        return 0;
    }
    if (from_chip.bit > 0) {
        from_chip.byte = (uint8_t)(from_chip.byte >> 1 | sends_high() << 7);
    } else if (sends_high()) { /* a glitch */
        from_chip.busy = false;
        return 0;
    }
    from_chip.bit++;
    return from_chip.start + time_of(from_chip.bit, 1);
}

static void on_sending_pin(avr_irq_t *irq, uint32_t value, void *parameter)
{
    if (!(value & 1) && is_output() && !from_chip.busy) {
        from_chip.busy = true;
        from_chip.start = avr->cycle;
        from_chip.bit = 0;
        avr_cycle_timer_register(avr, time_of(0, 1), on_sample, NULL);
    }
}

/* ---- the line ---- */

static bool is_busy(void) { return to_chip.busy || from_chip.busy; }

static uint64_t no_overruns(void) { return 0; } /* only the program could detect a missed bit */

/* simavr has cancelled all timers by now. */
static void on_reset(avr_io_t *io)
{
    to_chip.busy = from_chip.busy = pins.retry_pending = false;
    drive(true);
    avr->data[PINB] |= 1u << pins.rx; /* simavr has cleared it, and sees no change of the pin */
}

bool pins_install(unsigned rx, unsigned tx, uint32_t baud)
{
    static avr_io_t io = {.kind = "pins", .reset = on_reset};
    pins.rx = rx;
    pins.tx = tx;
    pins.baud = baud;
    avr_irq_t *rx_pin = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), (int)rx);
    avr_irq_t *tx_pin = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), (int)tx);
    if (!rx_pin || !tx_pin) {
        return false;
    }
    avr_irq_register_notify(tx_pin, on_sending_pin, NULL);
    avr_register_io(avr, &io);
    line = (struct line){.start = start_line, .is_busy = is_busy, .overruns = no_overruns};
    return true;
}
