#include "optimize_size.h"

#include "uart.h"

#ifdef SOFTWARE_UART

#include <avr/interrupt.h>

/* The duration of a bit in cycles, which Timer0 counts modulo 256. */
#define BIT_CYCLES ((F_CPU + BAUD / 2u) / BAUD)
typedef char a_bit_takes_100_to_255_cycles[BIT_CYCLES >= 100 && BIT_CYCLES <= 255 ? 1 : -1];

/* The cycles from a change of the pin until its handler reads the timer; half a bit would allow
 * more. */
#define EDGE_CYCLES 20u

#define RX _BV(UART_RX_PIN)
#define TX _BV(UART_TX_PIN)

/* Bits left of the arriving byte, from the start bit to the stop bit. */
static uint8_t bits_left;
static uint8_t incoming;
#define FRAME_BITS 10u

void uart_start(void)
{
    PORTB |= TX | RX; /* idle is high; the pull-up keeps an open line there */
    DDRB |= TX;
    PCMSK = RX;
    GIFR = _BV(PCIF);
    GIMSK |= _BV(PCIE);
    MCUCR = _BV(SE); /* mode idle */
}

/* Between bytes, interrupts come from the pin's changes and the timer's overflows; during a byte,
 * only from its bits. */
static inline void await_byte(void)
{
    GIFR = _BV(PCIF);
    GIMSK |= _BV(PCIE);
    TIMSK = _BV(TOIE0);
}

/* A start bit begins: check again in its middle. */
ISR(PCINT0_vect)
{
    if (PINB & RX) {
        return;
    }
    OCR0A = (uint8_t)(TCNT0 + BIT_CYCLES / 2u - EDGE_CYCLES);
    GIMSK &= (uint8_t)~_BV(PCIE);
    TIFR = _BV(OCF0A);
    TIMSK = _BV(OCIE0A);
    bits_left = FRAME_BITS;
}

static inline void keep(uint8_t byte)
{
    const uint8_t next = (uart_head + 1u) % UART_RING_BYTES;

    if (next != uart_tail) {
        uart_ring[uart_head] = byte;
        uart_head = next;
    } else if (uart_lost != UINT16_MAX) {
        uart_lost++;
    }
}

/* The middle of a bit. The next byte may begin half a bit after this one, so the stop bit must not take
 * long before changes count again. */
ISR(TIMER0_COMPA_vect)
{
    const uint8_t high = PINB & RX;
    const uint8_t left = --bits_left;

    OCR0A += BIT_CYCLES;
    if (left == 0) {
        await_byte();
        if (high) {
            keep(incoming);
        }
    } else if (left != FRAME_BITS - 1u) {
        incoming >>= 1;
        if (high) {
            incoming |= 0x80;
        }
    } else if (high) { /* this was not a start bit */
        await_byte();
    }
}

static void send_bit(uint8_t high)
{
    loop_until_bit_is_set(TIFR, OCF0B);
    if (high) {
        PORTB |= TX;
    } else {
        PORTB &= (uint8_t)~TX;
    }
    OCR0B += BIT_CYCLES;
    TIFR = _BV(OCF0B);
}

void uart_send(uint8_t byte)
{
    uint8_t left = 8;

    OCR0B = TCNT0 + BIT_CYCLES;
    TIFR = _BV(OCF0B);
    send_bit(0);
    for (; left != 0; left--) {
        send_bit(byte & 1u);
        byte >>= 1;
    }
    send_bit(1);
    loop_until_bit_is_set(TIFR, OCF0B); /* the stop bit is over */
}

#endif
