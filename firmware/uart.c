#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <util/atomic.h>

#define BAUD 115200UL

#define RING_BYTES 64u /* a power of two, so that an index wraps with a mask */
#define RING_MASK (RING_BYTES - 1u)

static volatile uint8_t ring[RING_BYTES];
static volatile uint8_t ring_head; /* where the interrupt writes next */
static volatile uint8_t ring_tail; /* where the program reads next; equal to the head: empty */
static volatile uint16_t overruns;

void uart_start(void)
{
    const uint16_t divisor = (F_CPU + 4u * BAUD) / (8u * BAUD) - 1u;

    /* UBRR0L comes last: writing it is what starts the baud rate generator anew, in simavr too. */
    UCSR0A = _BV(U2X0);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXCIE0) | _BV(RXEN0) | _BV(TXEN0);
    UBRR0H = (uint8_t)(divisor >> 8);
    UBRR0L = (uint8_t)divisor;
    SMCR = SLEEP_MODE_IDLE | _BV(SE);
}

ISR(USART_RX_vect)
{
    uint8_t lost = UCSR0A & _BV(DOR0); /* read before UDR0, which moves on to the next byte */
    const uint8_t byte = UDR0;
    const uint8_t head = ring_head;
    const uint8_t next = (head + 1u) & RING_MASK;
    uint16_t count;

    if (next == ring_tail) {
        lost = 1;
    } else {
        ring[head] = byte;
        ring_head = next;
    }
    if (lost) {
        count = overruns + 1u;
        if (count != 0) {
            overruns = count;
        }
    }
}

uint8_t uart_receive(void)
{
    const uint8_t tail = ring_tail;
    uint8_t byte;

    /* A byte that arrives between the check and the sleep must wake it: the instruction after `sei`
     * still runs undisturbed, so an interrupt that is pending then ends the sleep at once. */
    cli();
    while (ring_head == tail) {
        sei();
        sleep_cpu();
        cli();
    }
    sei();
    byte = ring[tail];
    ring_tail = (tail + 1u) & RING_MASK;
    return byte;
}

void uart_send(uint8_t byte)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = byte;
}

uint16_t uart_overruns(void)
{
    uint16_t count;

    ATOMIC_BLOCK(ATOMIC_FORCEON) { count = overruns; }
    return count;
}
