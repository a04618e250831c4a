/*
 * Interfaces between the parts of the emulated board: the core (core.c) runs the program and calls
 * the serial line (usart.c), which passes its bytes to the link (link.c) and takes the
 * link's bytes from the wire (link.c, too). An extension may add parts to the board, such as sensors.
 */
#ifndef UNO_H
#define UNO_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <simavr/sim_avr.h>

/* Facts of the chip. The first group comes from the command line, the second from simavr. Registers
 * are addresses in data space. */
extern struct chip {
    const char *mcu;
    unsigned clock_hz, gpior0;
    unsigned sleep_register, sleep_bit; /* SE */

    uint32_t flash_bytes;
    uint16_t sram_start, ramend;
    uint8_t interrupt_cycles; /* from the request to the vector */
} chip;

/* Registers with the same address on all chips, and their bits (data sheet 8271, chapter 36). */
enum { MCUSR = 0x54, SPMCSR = 0x57 };
enum { PORF = 0x01, EXTRF = 0x02, PGERS = 0x02, PGWRT = 0x04 };
enum { RXC = 0x80, TXC = 0x40, UDRE = 0x20, DOR = 0x08, U2X = 0x02, MPCM = 0x01 }; /* UCSRnA */
enum { RXEN = 0x10, TXEN = 0x08, RXB8 = 0x02 }; /* UCSRnB, also the enable bits of RXC, TXC, UDRE */

extern avr_t *avr;

/* ---- core.c ---- */

struct core_options {
    unsigned reset_pc;    /* 0, or where a bootloader starts */
    unsigned stack_floor; /* the first address past .bss, the lowest that the stack may reach */
    bool no_skip_fix;     /* only to show simavr's behaviour without it */
};

/* Fill in simavr's facts of the chip; false if simavr does not support it. */
bool core_find(void);

/* Write `image_bytes` of `image` to the flash, and reset the chip. The line must be installed
 * before. */
bool core_make(const struct core_options *options, const uint8_t *image, size_t image_bytes);

/* Keep the EEPROM in a file, which is created if it is missing or empty; return the reason if that
 * fails, else NULL. */
const char *core_keep_eeprom(const char *path);

/* Reset the chip as the button on the board does. */
void core_reset(void);

/* Replace simavr's peripheral of a kind (and of a name, for a USART); return the replaced one, NULL
 * if the chip has none. Then set the functions for one of its registers. */
avr_io_t *core_replace(const char *kind, char name, avr_io_t *io);
void core_register(uint16_t address, avr_io_read_t read, avr_io_write_t write);

/* Run 1 ms of emulated time; return whether the program slept for most of it. */
bool core_run_slice(void);

/* Whether it runs or sleeps; after a fault, or without a program, only a reset helps. */
bool core_is_alive(void);
bool core_boots(void); /* whether the bootloader runs */

void core_print_stats(FILE *stream);

/* ---- passes.c ---- */

/* Watch sums of passes, "row:address:times,...", over predictions, whose spans begin at
 * `first` and at `last`. */
bool passes_watch(const char *text, unsigned first, unsigned last);

/* Called when the instruction at `pc` runs within a span, and when a span begins or ends there. */
void passes_at(avr_flashaddr_t pc);
void passes_begin_span(avr_flashaddr_t pc);
void passes_end_span(void);

void passes_print(FILE *stream);

/* ---- usart.c ---- */

/* Replace simavr's USART `number` by this one; false if there is none. */
bool usart_install(unsigned number);

/* Its registers UCSRnA and UCSRnB; 0 and 0 without one. */
extern struct usart_status {
    uint16_t a, b;
} usart_status;

/* Pending interrupts. They are level-triggered: pending again after RETI if nothing changed. */
static inline uint8_t usart_requests(void)
{
    const uint8_t all = usart_status.a ? RXC | TXC | UDRE : 0;
    return avr->data[usart_status.a] & avr->data[usart_status.b] & all;
}
void usart_raise_interrupt(void);

/* ---- pins.c ---- */

/* Hold a pin high or low, or release it. */
void pins_hold(char port, unsigned bit, bool is_held, bool high);

/* Let resets release all buttons, and pull-ups work again after them. */
void pins_watch_resets(void);

/* Press a button between a pin, such as "D2", and ground for 0.2 s; false if there is no such pin. */
bool pins_press(const char *name);

/* ---- link.c: the wire ---- */

/* The operations of the line, set by the USART. */
extern struct line {
    void (*start)(void);        /* called when bytes wait on the wire */
    bool (*is_busy)(void);      /* whether it receives or sends a byte */
    uint64_t (*overruns)(void); /* frames lost because the program did not read them in time */
} line;

/* For the line: whether bytes wait; take the first one. */
bool wire_waits(void);
uint8_t wire_take(void);

/* What the line counts: bytes transferred, and polls of the program that found none. */
extern struct wire_activity {
    unsigned bytes_moved, empty_polls;
} wire_activity;

/* ---- link.c: the link ---- */

enum { LINK_WATCHED = 2 };

/* Opens the link; returns false if the system refuses. Port 0 means any free port. */
bool tcp_open(uint16_t port);
bool pty_open(void);
const char *link_url(void); /* for pyserial */
bool link_has_client(void);

/* Drop bytes that were not sent or received yet; send bytes; poll the descriptors. */
void link_forget(void);
void link_send(uint8_t byte);
void link_flush(void);
bool link_is_unanswered(void); /* a frame, which ends with a byte 0 */
bool link_is_behind(void);     /* the buffer is more than half full: the client reads slowly */
void link_watch(struct pollfd watched[LINK_WATCHED]);
void link_serve(const struct pollfd watched[LINK_WATCHED]);

/* ---- what extensions add ---- */

/* Parts of the board beside the chip; set by a constructor, else NULL. */
extern const struct board_parts {
    bool (*read)(const uint8_t *bytes, size_t count); /* their file, which remains in use; false if
                                                       * it is damaged */
    bool (*install)(void);                            /* false if the chip has no such inputs */
} *board_parts;

/* ---- uno.c ---- */

/* Reset the board as DTR or the button does, and discard bytes in both directions. */
void board_reset(void);

#endif
