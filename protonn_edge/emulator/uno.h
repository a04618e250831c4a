/*
 * What the parts of the emulated Uno know of each other: the core (core.c) runs the program and
 * calls on the serial line (usart.c), which hands its bytes to the link (link.c).
 */
#ifndef UNO_H
#define UNO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <simavr/sim_avr.h>

enum { CLOCK_HZ = 16000000, FLASH_BYTES = 0x8000, SRAM_START = 0x100, RAMEND = 0x8FF };

/* Registers, as addresses in data space, and their bits (datasheet 8271, chapter 36). */
enum { GPIOR0 = 0x3E, SMCR = 0x53, MCUSR = 0x54, SPMCSR = 0x57 };
enum { UCSR0A = 0xC0, UCSR0B = 0xC1, UCSR0C = 0xC2, UBRR0L = 0xC4, UBRR0H = 0xC5, UDR0 = 0xC6 };
enum { SE = 0x01, PORF = 0x01, EXTRF = 0x02, PGERS = 0x02, PGWRT = 0x04 };
enum { RXC = 0x80, TXC = 0x40, UDRE = 0x20, DOR = 0x08, U2X = 0x02, MPCM = 0x01 }; /* UCSR0A */
enum { RXEN = 0x10, TXEN = 0x08, RXB8 = 0x02 }; /* UCSR0B; it enables RXC, TXC, UDRE bit by bit */

extern avr_t *avr;

/* ---- core.c ---- */

struct core_options {
    avr_flashaddr_t reset_pc; /* 0, or where a bootloader starts */
    uint16_t stack_floor;     /* the first address past .bss: the stack may come down to here */
    bool skip_fix;            /* false only to show what simavr does without it */
};

bool core_make(const struct core_options *options, const uint8_t image[FLASH_BYTES]);

/* As the button on the board does to the chip. */
void core_reset(void);

/* Runs 1 ms of emulated time; returns whether the program slept for most of it. */
bool core_run_slice(void);

/* Whether it runs or sleeps; after a fault, or without a program, only a reset changes anything. */
bool core_is_alive(void);

void core_print_stats(FILE *stream);

/* ---- usart.c ---- */

/* Registers the peripheral with `avr`, in the place of simavr's own. */
void usart_install(void);

/* Where bytes from the peer may be written, and how many; then how many there are. */
uint8_t *usart_wire(size_t *room);
void usart_wire_filled(size_t count);

/* Forgets what the peer has sent and the line has not brought yet. */
void usart_flush(void);

/* Frames lost because the program did not read them in time. */
uint64_t usart_overruns(void);

/* The activity since the last call of usart_watch. */
void usart_watch(void);
bool usart_was_busy(void);   /* bytes flow */
bool usart_was_polled(void); /* the program asks for bytes and finds none */

/* Interrupts that are wanted now. Level-triggered: wanted again after RETI if nothing changed. */
static inline uint8_t usart_requests(void)
{
    return avr->data[UCSR0A] & avr->data[UCSR0B] & (RXC | TXC | UDRE);
}
void usart_raise_interrupt(void);

/* ---- link.c ---- */

void link_send(uint8_t byte);

/* ---- uno.c ---- */

/* As DTR or the button does; whatever was under way in either direction is gone. */
void board_reset(void);

#endif
