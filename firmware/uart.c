#include "small.h"

#include "uart.h"

#include "watchdog.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <util/atomic.h>

#define BAUD 115200UL

#define RING_MASK 63
#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)

volatile uint8_t uart_ring[UART_RING_BYTES];
volatile uint8_t uart_head; /* where the interrupt writes next */
volatile uint8_t uart_tail; /* where the program reads next; equal to the head: empty */
volatile uint16_t uart_lost;

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

/* The handler of USART_RX_vect, in assembly: what it takes for a byte that is not lost must be known to
 * the cycle, whatever the compiler is (UART_INTERRUPT_CYCLES), and it comes with every byte.
 *
 * The slot at the head is always free, since a full ring lacks one byte: the byte may be written
 * before it is known whether the head can move on. */
/* clang-format off */
__asm__(".section .text.uart_interrupt,\"ax\",@progbits\n"
        ".global __vector_18\n"
        ".type __vector_18, @function\n"
        "__vector_18:\n"
        "    push r24\n"
        "    in   r24, 0x3F\n" /* SREG */
        "    push r24\n"
        "    push r25\n"
        "    push r30\n"
        "    push r31\n"
        "    lds  r25, 0xC0\n" /* UCSR0A, before UDR0 moves on to the next byte */
        "    lds  r24, 0xC6\n" /* UDR0 */
        "    lds  r30, uart_head\n"
        "    ldi  r31, 0\n"
        "    subi r30, lo8(-(uart_ring))\n"
        "    sbci r31, hi8(-(uart_ring))\n"
        "    st   Z, r24\n"
        "    lds  r24, uart_head\n"
        "    inc  r24\n"
        "    andi r24, " VALUE_OF(RING_MASK) "\n"
        "    lds  r30, uart_tail\n"
        "    cp   r24, r30\n"
        "    breq 1f\n" /* full */
        "    sts  uart_head, r24\n"
        "    sbrs r25, 3\n" /* DOR0: the receiver has lost one */
        "    rjmp 2f\n"
        "1:  lds  r30, uart_lost\n"
        "    lds  r31, uart_lost + 1\n"
        "    adiw r30, 1\n"
        "    breq 2f\n"
        "    sts  uart_lost + 1, r31\n"
        "    sts  uart_lost, r30\n"
        "2:  pop  r31\n"
        "    pop  r30\n"
        "    pop  r25\n"
        "    pop  r24\n"
        "    out  0x3F, r24\n"
        "    pop  r24\n"
        "    reti\n"
        ".size __vector_18, . - __vector_18\n"
        ".text\n");
/* clang-format on */

uint8_t uart_receive(void)
{
    const uint8_t tail = uart_tail;
    uint8_t byte;

    /* A byte that arrives between the check and the sleep must wake it: the instruction after `sei`
     * still runs undisturbed, so an interrupt that is pending then ends the sleep at once. The timer's
     * wakes it every 4 ms, for the watchdog's sake. */
    cli();
    for (;;) {
        watchdog_feed();
        if (uart_head != tail) {
            break;
        }
        sei();
        sleep_cpu();
        cli();
    }
    sei();
    byte = uart_ring[tail];
    uart_tail = (tail + 1u) & RING_MASK;
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

    ATOMIC_BLOCK(ATOMIC_FORCEON) { count = uart_lost; }
    return count;
}
