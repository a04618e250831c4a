/* As much of the Arduino core as exported sketches need, for any compiler of C++11. A call of micros()
 * takes 200 us. With PLAYED, a program runs on this computer: analogRead() and Wire return the samples
 * of played.h in turn, and the program ends with them. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __AVR__
#include <avr/pgmspace.h>
#else
#define PROGMEM
#define pgm_read_byte(address) (*(const uint8_t *)(address))
#endif
#define F(text) text
enum { LOW, HIGH, OUTPUT, INPUT_PULLUP, LED_BUILTIN = 13 };
enum { A0 = 14, A1, A2, A3, A4, A5 };

#ifdef PLAYED
#include "played.h"
static unsigned next_sample;
static int played_value(unsigned channel)
{
    if (next_sample == sizeof played / sizeof played[0]) {
        exit(0);
    }
    const int value = played[next_sample][channel];
    next_sample += channel + 1 == sizeof played[0] / sizeof played[0][0];
    return value;
}
#else
int played_value(unsigned channel);
#endif

static unsigned long now_us;
static inline unsigned long micros() { return now_us += 200; }
static inline unsigned long millis() { return now_us / 1000; }
static inline void delay(unsigned long ms) { now_us += 1000 * ms; }
static inline void pinMode(int, int) {}
static inline int digitalRead(int) { return HIGH; }
static inline void digitalWrite(int, int) {}
static inline void analogReadResolution(int) {}
static inline int analogRead(int pin) { return played_value(pin - A0); }

struct Port {
    void begin(unsigned long) {}
    explicit operator bool() { return true; }
    int read() { return -1; }
    void print(const char *text) { printf("%s", text); }
    void print(char text) { printf("%c", text); }
    void print(unsigned char number) { printf("%d", number); }
    void print(int number) { printf("%d", number); }
    void print(unsigned number) { printf("%u", number); }
    void print(long number) { printf("%ld", number); }
    void print(unsigned long number) { printf("%lu", number); }
    void print(double number, int decimals) { printf("%.*f", decimals, number); }
    void println(double number, int decimals)
    {
        print(number, decimals);
        print('\n');
    }
    template <class Any> void println(Any any)
    {
        print(any);
        print('\n');
    }
};
static Port Serial;

void setup();
void loop();
