#include "optimize_size.h"

#include "uart.h"

#include "watchdog.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <util/atomic.h>

volatile uint8_t uart_ring[UART_RING_BYTES];
volatile uint8_t uart_head; /* where the interrupt writes next */
volatile uint8_t uart_tail; /* where the program reads next; equal to the head: empty */
volatile uint16_t uart_lost;

/* The board's build flags set another baud rate, or a USART other than the first. */
#ifndef BAUD
#define BAUD 115200UL
#endif
#ifndef UART_NUMBER
#define UART_NUMBER 0
#endif

#define JOINED(before, number, after) before##number##after
#define NUMBERED(before, number, after) JOINED(before, number, after)
#define UCSRA NUMBERED(UCSR, UART_NUMBER, A)
#define UCSRB NUMBERED(UCSR, UART_NUMBER, B)
#define UCSRC NUMBERED(UCSR, UART_NUMBER, C)
#define UBRRH NUMBERED(UBRR, UART_NUMBER, H)
#define UBRRL NUMBERED(UBRR, UART_NUMBER, L)
#define UDR NUMBERED(UDR, UART_NUMBER, )
#define BIT(name, after) _BV(NUMBERED(name, UART_NUMBER, after))
#ifdef USART_RX_vect /* of a chip that has only one */
#define RECEIVED_vect USART_RX_vect
#else
#define RECEIVED_vect NUMBERED(USART, UART_NUMBER, _RX_vect)
#endif

#define RING_MASK 63
typedef char the_mask_is_of_the_ring[RING_MASK == UART_RING_BYTES - 1 ? 1 : -1];
#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)
#define HANDLER VALUE_OF(RECEIVED_vect)

/* For assembly: the registers of each USART are 8 addresses after those of the previous one. */
#define UCSRA_ADDRESS "0xC0 + 8 * " VALUE_OF(UART_NUMBER)
#define UDR_ADDRESS "0xC6 + 8 * " VALUE_OF(UART_NUMBER)

void uart_start(void)
{
    const uint16_t divisor = (F_CPU + 4u * BAUD) / (8u * BAUD) - 1u;

    /* UBRRL comes last, because writing it restarts the baud rate generator, in simavr too. */
    UCSRA = BIT(U2X, );
    UCSRC = BIT(UCSZ, 1) | BIT(UCSZ, 0);
    UCSRB = BIT(RXCIE, ) | BIT(RXEN, ) | BIT(TXEN, );
    UBRRH = (uint8_t)(divisor >> 8);
    UBRRL = (uint8_t)divisor;
    SMCR = SLEEP_MODE_IDLE | _BV(SE);
}

/* The handler of a received byte. It is assembly, so that its cycles for a byte that is not lost
 * are known exactly with any compiler (UART_INTERRUPT_CYCLES).
 *
 * The slot at the head is always free, since a full ring holds one byte less than its size: the
 * byte may be written before it is known whether the head can advance. */
/* clang-format off */
__asm__(".section .text.uart_interrupt,\"ax\",@progbits\n"
        ".global " HANDLER "\n"
        ".type " HANDLER ", @function\n"
        HANDLER ":\n"
        "    push r24\n"
        "    in   r24, 0x3F\n" /* SREG */
        "    push r24\n"
        "    push r25\n"
        "    push r30\n"
        "    push r31\n"
        "    lds  r25, " UCSRA_ADDRESS "\n" /* before the data register moves on to the next byte */
        "    lds  r24, " UDR_ADDRESS "\n"
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
        "    sbrs r25, 3\n" /* DOR: the receiver has lost a byte */
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
        ".size " HANDLER ", . - " HANDLER "\n"
        ".text\n");
/* clang-format on */

void uart_send(uint8_t byte)
{
    loop_until_bit_is_set(UCSRA, NUMBERED(UDRE, UART_NUMBER, ));
    UDR = byte;
}

uint8_t uart_receive(void)
{
    const uint8_t tail = uart_tail;
    uint8_t byte;

    /* A byte that arrives between the check and the sleep must wake the chip: the instruction after
     * `sei` still runs before any interrupt, so a pending interrupt ends the sleep at once. The
     * timer's overflow also wakes the chip, to feed the watchdog. */
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
    uart_tail = (tail + 1u) % UART_RING_BYTES;
    return byte;
}

uint16_t uart_overruns(void)
{
    uint16_t count;

    ATOMIC_BLOCK(ATOMIC_FORCEON) { count = uart_lost; }
    return count;
}
