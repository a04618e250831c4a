/* The firmware's port to the Arduino API: the line, the pin and the time, on every core that has an
 * Arduino.h. */
#include <Arduino.h>

#include "harness.h"

extern "C" {
#include "requests.h"
#include "uart.h"
}

/* The object that is the board's USB port, or that of its adapter. */
#ifndef HARNESS_SERIAL
#define HARNESS_SERIAL Serial
#endif
#ifndef HARNESS_BAUD
#define HARNESS_BAUD 115200
#endif
/* On some boards, LED_BUILTIN is missing, or a colour LED that takes a protocol. */
#if !defined(HARNESS_PIN) && defined(LED_BUILTIN) && !defined(RGB_BUILTIN)
#define HARNESS_PIN LED_BUILTIN
#endif

static uint8_t waiting[64]; /* a USB port sends a packet for each call of write() */
static uint8_t count;

void uart_send(uint8_t byte)
{
    waiting[count++] = byte;
    if (byte == 0 || count == sizeof waiting) { /* 0 ends a frame */
        HARNESS_SERIAL.write(waiting, count);
        count = 0;
    }
}

void harness_pin(uint8_t high)
{
#ifdef HARNESS_PIN
    digitalWrite(HARNESS_PIN, high ? HIGH : LOW);
#else
    (void)high;
#endif
}

void harness_yield(void) { yield(); }

#if defined(EMULATED_CORE)
void counter_start(void) {}
uint32_t counter_now(void) { return core_instructions(); }
#elif defined(HARNESS_MICROS)
#elif defined(ARDUINO_ARCH_ESP32) || defined(ESP8266)
/* ccount, or a RISC-V's own register: rdcycle is a trap there. */
void counter_start(void) {}
uint32_t counter_now(void) { return ESP.getCycleCount(); }
#elif defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__)
#define REGISTER(address) (*(volatile uint32_t *)(address))
void counter_start(void)
{
    REGISTER(0xE000EDFC) |= 1u << 24;   /* DEMCR: the DWT gets its clock */
    REGISTER(0xE0001FB0) = 0xC5ACCE55u; /* its lock, which a Cortex-M7 has */
    REGISTER(0xE0001000) |= 1u;
}
uint32_t counter_now(void) { return REGISTER(0xE0001004); }
#elif defined(__AVR__) && defined(TIMSK1) && defined(TCCR1B)
/* Timer1 without prescaler, extended by its overflows. */
#include <avr/interrupt.h>
static volatile uint16_t overflows;
ISR(TIMER1_OVF_vect) { overflows++; }
void counter_start(void)
{
    TCCR1A = 0;
    TCCR1B = 1;
    TIMSK1 = 1;
}
uint32_t counter_now(void)
{
    uint8_t state = SREG;

    cli();
    uint16_t low = TCNT1;
    uint16_t high = overflows;
    if ((TIFR1 & 1) && low < 0x8000) { /* it has overflowed since cli() */
        high++;
    }
    SREG = state;
    return (uint32_t)high << 16 | low;
}
#else
#define HARNESS_MICROS
#endif

#ifdef HARNESS_MICROS
void counter_start(void) {}
uint32_t counter_now(void) { return micros(); }
uint32_t counter_hz(void) { return 1000000; }
#else
uint32_t counter_hz(void) { return harness_clock_hz(); }
#endif

#ifdef EMULATED_CORE
uint32_t harness_clock_hz(void) { return 0; }
#else
uint32_t harness_clock_hz(void) { return F_CPU; }
#endif

void setup()
{
    HARNESS_SERIAL.begin(HARNESS_BAUD); /* not while (!Serial), which waits for a host */
#ifdef HARNESS_PIN
    pinMode(HARNESS_PIN, OUTPUT);
#endif
    counter_start();
    prediction_calibrate();
}

void loop()
{
    while (HARNESS_SERIAL.available() > 0) {
        requests_take((uint8_t)HARNESS_SERIAL.read());
    }
    yield();
}
