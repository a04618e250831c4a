/* What a program of models prints: over the serial line of an Uno, or to standard output. */
#include <stdint.h>

#ifdef __AVR__
#include <avr/io.h>
#include <avr/pgmspace.h>
static void begin(void)
{
    UBRR0L = 0; /* the fastest: 80 cycles a byte */
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << TXEN0;
}
static void put(uint8_t byte)
{
    while (!(UCSR0A & 1 << UDRE0)) {
    }
    UDR0 = byte;
}
static void end(void)
{
    for (;;) {
    }
}
#define FLASH PROGMEM
#define READ(address) pgm_read_byte(address)
#else
#include <stdio.h>
static void begin(void) {}
static void put(uint8_t byte) { putchar(byte); }
static void end(void) {}
#define FLASH
#define READ(address) (*(address))
#endif

/* Send an answer: the class, then its scores as they lie in memory. */
static void send(uint8_t label, const void *scores, uint16_t bytes)
{
    const uint8_t *next = scores;
    put(label);
    while (bytes-- > 0) {
        put(*next++);
    }
}
