/* As much of the Arduino core as exported sketches need, for any compiler of C++11. A call of micros()
 * takes 200 us. With PLAYED, a program runs on this computer: analogRead() and Wire return the samples
 * of played.h in turn, and the program ends with them. With ON_A_LINE, too, they come again and again,
 * in real time, and the serial port is the terminal that the program was started with. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#ifndef ON_A_LINE
        exit(0);
#endif
        next_sample = 0;
    }
    const int value = played[next_sample][channel];
    next_sample += channel + 1 == sizeof played[0] / sizeof played[0][0];
    return value;
}
#else
int played_value(unsigned channel);
#endif

static unsigned long now_us;
#ifdef ON_A_LINE
#include <poll.h>
#include <unistd.h>
static inline unsigned long micros()
{
    usleep(200);
    return now_us += 200;
}
#define printf(...) dprintf(0, __VA_ARGS__)
#else
static inline unsigned long micros() { return now_us += 200; }
#endif
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
#ifdef ON_A_LINE
    int available()
    {
        struct pollfd line = {0, POLLIN, 0};
        return poll(&line, 1, 0);
    }
    int read()
    {
        unsigned char byte;
        return ::read(0, &byte, 1) == 1 ? byte : -1;
    }
    void write(const unsigned char *bytes, unsigned count)
    {
        if (::write(0, bytes, count) != (int)count) {
            exit(1);
        }
    }
#else
    int available() { return 0; }
    int read() { return -1; }
    void write(const unsigned char *, unsigned) {}
#endif
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
