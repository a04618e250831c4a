/*
 * The chip's two-wire interface, as a master.
 *
 * It replaces simavr's, which takes a microsecond per bit regardless of TWBR, and answers an address
 * with the status of a data byte. Section numbers are those of the ATmega328P datasheet, Atmel 8271.
 */
#include "sensors.h"

#include <string.h>

#include <simavr/avr_twi.h>

enum { TWINT = 0x80, TWEA = 0x40, TWSTA = 0x20, TWSTO = 0x10, TWEN = 0x04, TWIE = 0x01 }; /* TWCR */
enum { KEPT = TWEA | TWSTA | TWSTO | TWEN | TWIE, TWPS = 0x03, NOTHING = 0xF8 };

static struct {
    avr_int_vector_t *interrupt;
    uint16_t twbr, twsr, twdr, twcr;
    enum { IDLE, STARTED, SENDING, RECEIVING } phase;
    uint8_t status, received; /* at the end of the transfer in progress */
} twi;

static avr_cycle_count_t bit_cycles(void) /* 22.5.2 */
{
    return 16 + ((avr_cycle_count_t)2 * avr->data[twi.twbr] << 2 * (avr->data[twi.twsr] & TWPS));
}

static void set_status(uint8_t status)
{
    avr->data[twi.twsr] = status | (avr->data[twi.twsr] & TWPS);
}

static avr_cycle_count_t on_done(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    (void)core, (void)when, (void)parameter;
    if (twi.phase == RECEIVING && (twi.status == 0x50 || twi.status == 0x58)) {
        avr->data[twi.twdr] = twi.received;
    }
    set_status(twi.status);
    avr_raise_interrupt(avr, twi.interrupt); /* sets TWINT, too */
    return 0;
}

static void finish_after(unsigned bits, uint8_t status)
{
    twi.status = status;
    avr_cycle_timer_register(avr, bits * bit_cycles(), on_done, NULL);
}

static void stop(void)
{
    avr_cycle_timer_cancel(avr, on_done, NULL);
    two_wire_stop();
    twi.phase = IDLE;
    avr->data[twi.twcr] &= ~TWSTO;
    set_status(NOTHING);
}

/* Transfers a byte and its acknowledgement, as TWDR and the phase request (22.7). */
static void move_byte(bool acknowledge)
{
    const uint8_t byte = avr->data[twi.twdr];
    if (twi.phase == STARTED) {
        const bool answered = two_wire_start(byte);
        twi.phase = byte & 1 ? RECEIVING : SENDING;
        finish_after(9, byte & 1 ? (answered ? 0x40 : 0x48) : (answered ? 0x18 : 0x20));
    } else if (twi.phase == SENDING) {
        finish_after(9, two_wire_write(byte) ? 0x28 : 0x30);
    } else if (twi.phase == RECEIVING) {
        twi.received = two_wire_read();
        finish_after(9, acknowledge ? 0x50 : 0x58);
    }
}

static void write_twcr(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    (void)core, (void)parameter;
    const uint8_t flag = avr->data[address] & TWINT;
    avr->data[address] = (value & KEPT) | flag;
    if (!(value & TWEN)) {
        avr->data[address] &= ~TWINT;
        twi.interrupt->pending = 0;
        stop();
        return;
    }
    if (!(value & TWINT)) { /* a 1 clears the flag and starts the operation */
        if (flag && value & TWIE) {
            avr_raise_interrupt(avr, twi.interrupt);
        }
        return;
    }
    avr->data[address] &= ~TWINT;
    twi.interrupt->pending = 0;
    if (value & TWSTO) {
        stop();
    }
    if (value & TWSTA) {
        finish_after(1, twi.phase == IDLE ? 0x08 : 0x10);
        twi.phase = STARTED;
    } else if (!(value & TWSTO)) {
        move_byte(value & TWEA);
    }
}

static void write_twsr(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    (void)core, (void)parameter;
    avr->data[address] = (avr->data[address] & ~TWPS) | (value & TWPS);
}

/* simavr has cancelled all timers by now. */
static void on_reset(avr_io_t *io)
{
    (void)io;
    two_wire_stop();
    twi.phase = IDLE;
    avr->data[twi.twsr] = NOTHING;
}

void twi_install(void)
{
    static avr_io_t io = {.kind = "two-wire", .reset = on_reset};
    avr_io_t **link = &avr->io_port;
    while (*link && strcmp((*link)->kind, "twi") != 0) {
        link = &(*link)->next;
    }
    if (!*link) {
        return;
    }
    avr_twi_t *replaced = (avr_twi_t *)*link;
    twi.interrupt = &replaced->twi;
    twi.twbr = replaced->r_twbr;
    twi.twsr = replaced->r_twsr;
    twi.twdr = replaced->r_twdr;
    twi.twcr = replaced->r_twcr;
    io.avr = avr;
    io.next = replaced->io.next;
    *link = &io;
    const struct {
        uint16_t address;
        avr_io_write_t write;
    } registers[] = {{twi.twcr, write_twcr}, {twi.twsr, write_twsr}, {twi.twdr, NULL}};
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        const uint16_t place = AVR_DATA_TO_IO(registers[i].address);
        avr->io[place].r.c = NULL;
        avr->io[place].w.c = registers[i].write;
    }
}

bool twi_is_there(void) { return twi.interrupt != NULL; }
