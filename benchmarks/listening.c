/* Listens to a microphone at A0, 8,000 samples a second, and sends what it hears: for each clip its
 * class, its scores, and what it took. Compiled with the pnn_model.h of a model of sound. */
#include "pnn_model.h"

#include <avr/interrupt.h>
#include <avr/io.h>

#define SAMPLE_CYCLES 2000u
#define RING_SAMPLES 128u /* a class takes the time of some samples */

static volatile uint8_t ring[RING_SAMPLES];
static volatile uint8_t head;
static volatile uint32_t sampled;
static volatile uint8_t lost;

/* Takes the sample that was converted meanwhile, and has the next one converted. */
ISR(TIMER1_COMPA_vect)
{
    ring[head % RING_SAMPLES] = ADCH;
    ADCSRA |= _BV(ADSC);
    ++head;
    ++sampled;
}

static void send(const void *bytes, uint8_t count)
{
    for (const uint8_t *next = bytes; count-- > 0; ++next) {
        loop_until_bit_is_set(UCSR0A, UDRE0);
        UDR0 = *next;
    }
}

static void begin(void)
{
    UBRR0 = 16; /* 115,200 baud */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(TXEN0);
    DIDR0 = _BV(ADC0D);
    ADMUX = _BV(REFS0) | _BV(ADLAR); /* the upper eight bits, against AVCC */
    ADCSRA = _BV(ADEN) | _BV(ADSC) | _BV(ADPS2) | _BV(ADPS0); /* 26 us a conversion */
    loop_until_bit_is_clear(ADCSRA, ADSC);
    OCR1A = SAMPLE_CYCLES - 1;
    TCCR1B = _BV(WGM12) | _BV(CS10);
    TIMSK1 = _BV(OCIE1A);
    sei();
}

/* Cycles since the start, to the cycle. */
static uint32_t now(void)
{
    uint32_t samples;
    uint16_t cycles;

    cli();
    samples = sampled;
    cycles = TCNT1;
    if (TIFR1 & _BV(OCF1A)) { /* the timer began again behind the CLI */
        samples++;
        cycles = TCNT1;
    }
    sei();
    return samples * SAMPLE_CYCLES + cycles;
}

int main(void)
{
    struct {
        uint8_t label;
        uint8_t lost;
        uint32_t sum;     /* of the cycles of all samples, interrupts among them */
        uint32_t latency; /* from the last sample to the class, in cycles */
        uint16_t most;    /* of a sample */
    } heard;
    uint8_t tail = 0;
    uint16_t left = 0; /* of the clip */
    uint32_t taken = 0;

    begin();
    for (;;) {
        while (tail == head) {
        }
        if ((uint8_t)(head - tail) > RING_SAMPLES) {
            lost = 1;
        }
        const uint8_t sample = ring[tail++ % RING_SAMPLES];
        ++taken;
        if (left == 0) {
            if (!pnn_onset(sample)) {
                continue;
            }
            pnn_begin();
            left = PNN_FEATURES;
            heard.sum = 0;
            heard.most = 0;
        }
        const uint32_t start = now();
        pnn_push(sample);
        const uint32_t cycles = now() - start;
        heard.sum += cycles;
        if (cycles > heard.most) {
            heard.most = (uint16_t)cycles;
        }
        if (--left == 0) {
            heard.label = pnn_finish();
            heard.latency = now() - taken * SAMPLE_CYCLES;
            heard.lost = lost;
            send(&heard, sizeof heard);
            send(pnn_scores(), PNN_CLASSES * sizeof(pnn_score_t));
        }
    }
}
