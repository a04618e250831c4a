/* What is wired to pins: buttons. */
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
