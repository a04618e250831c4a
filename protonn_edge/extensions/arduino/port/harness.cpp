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
#else
#include "counter.h"
#endif

#if defined(COUNTER_MISSING) && !defined(HARNESS_MICROS)
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
#elif defined(F_CPU)
uint32_t harness_clock_hz(void) { return F_CPU; }
#else /* a core on Mbed has CMSIS's variable instead */
extern "C" uint32_t SystemCoreClock;
uint32_t harness_clock_hz(void) { return SystemCoreClock; }
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
