/*
 * A USART of the chip, double-buffered both ways and at wire speed in emulated time.
 *
 * It replaces simavr's USART, whose receiver holds 64 bytes instead of the chip's two and a half,
 * whose transmitter has no buffer, which always counts a parity bit, and which sleeps when polled.
 * Section numbers are those of the ATmega328P data sheet, Atmel 8271.
 */
#include "uno.h"

#include <string.h>

#include <simavr/avr_uart.h>

static struct {
    avr_int_vector_t *rxc, *udre, *txc;

    uint16_t udr, ucsrc, ubrrl, ubrrh;
    bool line_busy, in_frame; /* the receive timer runs; it is inside a frame */
    uint8_t incoming;
    uint8_t received[3]; /* two buffer registers, and a frame waiting in the shift register */
    int received_count;
    uint64_t overruns;

    uint8_t tx_shift, tx_buffer; /* the buffer is full while UDRE is 0 */
    bool tx_busy;
} usart;

struct usart_status usart_status;

/* ---- timing (20.3.1, 20.4) ---- */

static avr_cycle_count_t bit_cycles(void)
{
    const unsigned divisor = avr->data[usart.ubrrl] | (avr->data[usart.ubrrh] & 0x0F) << 8;
    return (divisor + 1) * (avr->data[usart_status.a] & U2X ? 8 : 16);
}

static unsigned frame_bits(void)
{
    const uint8_t format = avr->data[usart.ucsrc];
    const unsigned start = 1, data = 5 + (format >> 1 & 3);
    const unsigned parity = format & 0x30 ? 1 : 0, stop = format & 0x08 ? 2 : 1;
    return start + data + parity + stop;
}

/* ---- receiver (20.7) ---- */

static void set_received_count(int count)
{
    usart.received_count = count;
    if (count > 0) {
        avr->data[usart_status.a] |= RXC;
    } else {
        avr->data[usart_status.a] &= ~RXC;
        usart.rxc->pending = 0;
    }
}

/* Runs alternately in the middle of the start bit and in the middle of the stop bit. */
static avr_cycle_count_t on_line(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    if (usart.in_frame) {
        usart.in_frame = false;
        usart.received[usart.received_count] = usart.incoming;
        set_received_count(usart.received_count + 1);
        wire_activity.bytes_moved++;
        usart.line_busy = wire_waits();
        return usart.line_busy ? when + bit_cycles() : 0;
    }
    if (usart.received_count == 3) { /* the new frame replaces the waiting one (20.7.4) */
        set_received_count(2);
        avr->data[usart_status.a] |= DOR;
        usart.overruns++;
    }
    usart.in_frame = true;
    usart.incoming = wire_take();
    return when + (frame_bits() - 1) * bit_cycles();
}

/* Bytes wait until the receiver is enabled, so none are lost while the program sets it up. */
static void start_line(void)
{
    if (!usart.line_busy && wire_waits() && avr->data[usart_status.b] & RXEN) {
        usart.line_busy = true;
        avr_cycle_timer_register(avr, bit_cycles(), on_line, NULL);
    }
}

static void stop_receiver(void)
{
    avr_cycle_timer_cancel(avr, on_line, NULL);
    usart.line_busy = usart.in_frame = false;
    set_received_count(0);
}

static uint8_t read_udr(avr_t *core, avr_io_addr_t address, void *parameter)
{
    const uint8_t byte = usart.received[0];
    if (usart.received_count > 0) {
        memmove(usart.received, usart.received + 1, sizeof usart.received - 1);
        set_received_count(usart.received_count - 1);
    }
    avr->data[usart_status.a] &= ~DOR;
    return byte;
}

/* ---- transmitter (20.6) ---- */

static avr_cycle_count_t on_sent(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    link_send(usart.tx_shift);
    wire_activity.bytes_moved++;
    usart.tx_busy = !(avr->data[usart_status.a] & UDRE);
    if (!usart.tx_busy) {
        avr->data[usart_status.a] |= TXC;
        return 0;
    }
    usart.tx_shift = usart.tx_buffer;
    avr->data[usart_status.a] |= UDRE;
    return when + frame_bits() * bit_cycles();
}

static void write_udr(avr_t *core, avr_io_addr_t address, uint8_t byte, void *parameter)
{
    if (!(avr->data[usart_status.b] & TXEN) || !(avr->data[usart_status.a] & UDRE)) {
        return; /* the chip ignores it, too */
    }
    if (usart.tx_busy) {
        usart.tx_buffer = byte;
        avr->data[usart_status.a] &= ~UDRE;
        usart.udre->pending = 0;
    } else {
        usart.tx_shift = byte;
        usart.tx_busy = true;
        avr_cycle_timer_register(avr, frame_bits() * bit_cycles(), on_sent, NULL);
    }
}

/* ---- control registers and interrupts (20.11) ---- */

static uint8_t read_ucsra(avr_t *core, avr_io_addr_t address, void *parameter)
{
    if (!(avr->data[address] & RXC)) {
        wire_activity.empty_polls++;
    }
    return avr->data[address];
}

static void write_ucsra(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    const uint8_t kept = avr->data[address] & ~(U2X | MPCM | (value & TXC)); /* a 1 clears TXC */
    avr->data[address] = kept | (value & (U2X | MPCM));
    if (value & TXC) {
        usart.txc->pending = 0;
    }
}

static void write_ucsrb(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    avr->data[address] = (value & ~RXB8) | (avr->data[address] & RXB8);
    if (value & RXEN) {
        start_line();
    } else {
        stop_receiver();
    }
}

void usart_raise_interrupt(void)
{
    const uint8_t requests = usart_requests();
    avr_raise_interrupt(avr, requests & RXC ? usart.rxc : requests & UDRE ? usart.udre : usart.txc);
}

/* ---- the peripheral ---- */

/* simavr has cancelled all timers by now. Bytes on the wire survive a watchdog reset. */
static void on_reset(avr_io_t *io)
{
    usart.line_busy = usart.in_frame = usart.tx_busy = false;
    usart.received_count = 0;
    avr->data[usart_status.a] = UDRE;
    avr->data[usart.ucsrc] = 0x06; /* 8N1 */
}

static bool is_busy(void) { return usart.line_busy || usart.tx_busy; }

static uint64_t overruns(void) { return usart.overruns; }

bool usart_install(unsigned number)
{
    static avr_io_t io = {.kind = "usart", .reset = on_reset};
    avr_uart_t *replaced = (avr_uart_t *)core_replace("uart", (char)('0' + number), &io);
    if (!replaced) {
        return false;
    }
    usart.rxc = &replaced->rxc;
    usart.udre = &replaced->udrc;
    usart.txc = &replaced->txc;
    usart.udr = replaced->r_udr;
    usart.ucsrc = replaced->r_ucsrc;
    usart.ubrrl = replaced->ubrrl.reg;
    usart.ubrrh = replaced->ubrrh.reg;
    usart_status = (struct usart_status){replaced->r_ucsra, replaced->r_ucsrb};
    core_register(usart.udr, read_udr, write_udr);
    core_register(usart_status.a, read_ucsra, write_ucsra);
    core_register(usart_status.b, NULL, write_ucsrb);
    core_register(usart.ubrrl, NULL, NULL);
    line = (struct line){.start = start_line, .is_busy = is_busy, .overruns = overruns};
    return true;
}
