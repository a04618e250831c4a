/*
 * What the parts of the emulated board know of each other: the core (core.c) runs the program and
 * calls on the serial line (usart.c, or pins.c), which hands its bytes to the link (link.c) and takes
 * those of the link from the wire (wire.c).
 */
#ifndef UNO_H
#define UNO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <simavr/sim_avr.h>

/* What differs from chip to chip. The first lines are said by whoever starts the board, the rest by
 * simavr. Registers are addresses in data space. */
extern struct chip {
    const char *mcu;
    uint32_t clock_hz;
    uint16_t gpior0, sleep_register;
    uint8_t sleep_enable; /* a mask */

    uint32_t flash_bytes;
    uint16_t sram_start, ramend;
    uint8_t interrupt_cycles; /* from the request to the vector */
} chip;

/* Registers that all chips have in the same place, and their bits (datasheet 8271, chapter 36). */
enum { MCUSR = 0x54, SPMCSR = 0x57 };
enum { PORF = 0x01, EXTRF = 0x02, PGERS = 0x02, PGWRT = 0x04 };
enum { RXC = 0x80, TXC = 0x40, UDRE = 0x20, DOR = 0x08, U2X = 0x02, MPCM = 0x01 }; /* UCSRnA */
enum { RXEN = 0x10, TXEN = 0x08, RXB8 = 0x02 }; /* UCSRnB; it enables RXC, TXC, UDRE bit by bit */

extern avr_t *avr;

/* ---- core.c ---- */

struct core_options {
    avr_flashaddr_t reset_pc; /* 0, or where a bootloader starts */
    uint16_t stack_floor;     /* the first address past .bss: the stack may come down to here */
    bool skip_fix;            /* false only to show what simavr does without it */
};

/* Find out what simavr knows of the chip; false if it does not know it. */
bool core_find(void);

/* Put `image_bytes` of `image` into its flash, and reset it. The line is installed in between. */
bool core_make(const struct core_options *options, const uint8_t *image, size_t image_bytes);

/* As the button on the board does to the chip. */
void core_reset(void);

/* Runs 1 ms of emulated time; returns whether the program slept for most of it. */
bool core_run_slice(void);

/* Whether it runs or sleeps; after a fault, or without a program, only a reset changes anything. */
bool core_is_alive(void);
bool core_boots(void); /* it is in the bootloader */

void core_print_stats(FILE *stream);

/* ---- usart.c ---- */

/* Registers USART `number` with `avr`, in the place of simavr's own; false if there is none. */
bool usart_install(unsigned number);

/* Its registers UCSRnA and UCSRnB; 0 and 0 without one. */
extern struct usart_status {
    uint16_t a, b;
} usart_status;

/* Interrupts that are wanted now. Level-triggered: wanted again after RETI if nothing changed. */
static inline uint8_t usart_requests(void)
{
    const uint8_t all = usart_status.a ? RXC | TXC | UDRE : 0;
    return avr->data[usart_status.a] & avr->data[usart_status.b] & all;
}
void usart_raise_interrupt(void);

/* ---- pins.c ---- */

/* Makes two pins of port B the line; false if there is no such port. */
bool pins_install(unsigned rx, unsigned tx, uint32_t baud);

/* ---- wire.c ---- */

/* What the line does; whoever installs it says how. */
extern struct line {
    void (*start)(void);        /* bytes wait on the wire */
    bool (*is_busy)(void);      /* it brings a byte, or takes one */
    uint64_t (*overruns)(void); /* frames lost because the program did not read them in time */
} line;

/* Where bytes from the peer may be written, and how many; then how many there are. */
uint8_t *wire_room(size_t *room);
void wire_filled(size_t count);

/* Forgets what the peer has sent and the line has not brought yet. */
void wire_flush(void);

/* For the line: whether bytes wait, and the first of them; one was moved; one was asked for. */
bool wire_waits(void);
uint8_t wire_take(void);
void wire_moved(void);
void wire_polled_in_vain(void);

/* The activity since the last call of wire_watch. */
void wire_watch(void);
bool wire_was_busy(void);   /* bytes flow */
bool wire_was_polled(void); /* the program asks for bytes and finds none */

/* ---- link.c ---- */

void link_send(uint8_t byte);

/* ---- uno.c ---- */

/* As DTR or the button does; whatever was under way in either direction is gone. */
void board_reset(void);

#endif
