/* The two-wire bus with one chip, whose samples are big endian and which has any of the ids. */
#pragma once
#include <Arduino.h>

struct Bus {
    uint8_t bytes[32], count, at, which;
    void begin() {}
    void setClock(uint32_t) {}
    void beginTransmission(uint8_t) { count = 0; }
    void write(uint8_t byte) { bytes[count++ % sizeof bytes] = byte; }
    uint8_t endTransmission(bool = true)
    {
        which = bytes[0];
        return 0;
    }
    uint8_t requestFrom(uint8_t, uint8_t asked)
    {
        at = 0;
        bytes[0] = 0x68;
#ifdef PLAYED
        const unsigned channels = sizeof played[0] / sizeof played[0][0];
        for (unsigned place = 0, channel = 0; asked > 1 && channel < channels; ++channel, place += 2) {
            place += place == 6 ? 2 : 0; /* an MPU-6050's temperature */
            const uint16_t value = (uint16_t)played_value(channel);
            bytes[place] = value >> 8;
            bytes[place + 1] = value & 0xff;
        }
#endif
        return asked;
    }
    int read() { return bytes[at++]; }
};
static Bus Wire;
