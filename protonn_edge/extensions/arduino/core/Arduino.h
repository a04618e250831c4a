/* As much of an Arduino core as the firmware needs, for machines of QEMU. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct SerialPort {
    void begin(unsigned long);
    int available();
    int read();
    size_t write(const uint8_t *, size_t);
};
extern SerialPort Serial;

uint32_t micros();
uint32_t core_instructions(); /* executed so far: QEMU knows no cycles */
static inline void yield() {}
void setup();
void loop();
