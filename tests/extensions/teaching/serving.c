/*
 * A taught model that does what it reads, on the host or on an Uno: one letter, and what it asks for.
 *
 * P features   predict                       class, scores of 32 bits
 * B features   begin another prediction      0
 * L class      learn                         whether it did
 * F class      forget                        0
 * A            forget all                    0
 * S            start: what was in SRAM is lost   the number of examples
 * T            count                         the number of examples, and of each class
 * O            count others'                  whether the store has another model's examples
 * D            dump the store                its bytes
 * W bytes      overwrite the store           0
 * C n          cut the power during the next operation: the host ignores writes after n (16 bits), an Uno
 *              resets after n cycles   0
 */
#include "pnn_model.h"

#ifdef __AVR__
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>

static uint8_t receive(void)
{
    while (!(UCSR0A & 1 << RXC0)) {
    }
    return UDR0;
}

static void send(uint8_t byte)
{
    while (!(UCSR0A & 1 << UDRE0)) {
    }
    UDR0 = byte;
}

static void begin(void)
{
    TCCR1B = 0;
    UCSR0A = 1 << U2X0;
    UBRR0 = F_CPU / 8 / 115200 - 1;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    sei();
}

/* As if the power had been cut: variables begin anew. The letter says that it did. */
ISR(TIMER1_COMPA_vect, ISR_NAKED) { __asm__ volatile("jmp 0"); }

static uint16_t cut_after;

static void cut(uint16_t cycles) { cut_after = cycles; }
static void stop_cutting(void) { TIMSK1 = 0; }

/* An operation begins: what it needs has been received. */
static void start_cutting(void)
{
    if (cut_after == 0) {
        return;
    }
    OCR1A = cut_after;
    cut_after = 0;
    TCNT1 = 0;
    TIFR1 = 1 << OCF1A;
    TIMSK1 = 1 << OCIE1A;
    TCCR1B = 1 << CS10;
}

static void mark(uint8_t begins) { GPIOR0 = begins; } /* what the emulator measures */
static uint8_t read_store(uint16_t place) { return eeprom_read_byte((const uint8_t *)place); }
static void write_store(uint16_t place, uint8_t value)
{
    eeprom_update_byte((uint8_t *)place, value);
}

#else
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint8_t store[PNN_STORE_BYTES];
static uint32_t writes_left = 0xffffffffu;

uint8_t pnn_store_read(uint16_t place) { return store[place]; }

void pnn_store_write(uint16_t place, uint8_t value)
{
    if (writes_left > 0 && store[place] != value) {
        store[place] = value;
        --writes_left;
    }
}

static uint8_t receive(void)
{
    static uint8_t received[512];
    static ssize_t next, count;
    if (next == count) {
        fflush(stdout);
        next = 0;
        count = read(STDIN_FILENO, received, sizeof received);
        if (count <= 0) {
            exit(0);
        }
    }
    return received[next++];
}

static void send(uint8_t byte) { putchar(byte); }
static void begin(void) {}
static void cut(uint16_t writes) { writes_left = writes; }
static void stop_cutting(void) { writes_left = 0xffffffffu; }
static void start_cutting(void) {}
static void mark(uint8_t begins) { (void)begins; }
#define read_store pnn_store_read
static void write_store(uint16_t place, uint8_t value) { store[place] = value; }
#endif

static const pnn_input_t *received_features(void)
{
    static pnn_input_t features[PNN_FEATURES];
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        features[i] = receive();
    }
    return features;
}

static void predict(void)
{
    const pnn_input_t *const features = received_features();
    mark(1);
    const uint8_t label = pnn_predict(features);
    mark(0);
    send(label);
    for (uint8_t l = 0; l < PNN_CLASSES; ++l) {
        const uint32_t score = (uint32_t)(int32_t)pnn_scores()[l];
        for (uint8_t shift = 0; shift < 32; shift += 8) {
            send((uint8_t)(score >> shift));
        }
    }
}

static void count(void)
{
    send(pnn_taught());
    for (uint8_t l = 0; l < PNN_CLASSES; ++l) {
        send(pnn_taught_of(l));
    }
}

static void serve(uint8_t letter)
{
    uint16_t number;
    switch (letter) {
    case 'P':
        predict();
        return;
    case 'B':
        pnn_begin();
        pnn_push_many(received_features(), PNN_FEATURES);
        break;
    case 'L':
        number = receive();
        start_cutting();
        mark(1);
        number = pnn_learn((uint8_t)number);
        mark(0);
        send((uint8_t)number);
        return;
    case 'O':
        send(pnn_taught_another());
        return;
    case 'T':
        count();
        return;
    case 'S':
        start_cutting();
        number = pnn_recall();
        stop_cutting();
        send((uint8_t)number);
        return;
    case 'D':
        for (uint16_t i = 0; i < PNN_STORE_BYTES; ++i) {
            send(read_store(i));
        }
        return;
    case 'W':
        for (uint16_t i = 0; i < PNN_STORE_BYTES; ++i) {
            write_store(i, receive());
            send(0);
        }
        break;
    case 'F':
        number = receive();
        start_cutting();
        pnn_forget((uint8_t)number);
        break;
    case 'A':
        start_cutting();
        pnn_forget_all();
        break;
    case 'C':
        number = receive();
        number |= (uint16_t)(receive() << 8);
        cut(number);
        break;
    default:
        break;
    }
    send(0);
}

int main(void)
{
    begin();
    send('!'); /* it has started */
    for (;;) {
        serve(receive());
    }
}
