/*
 * Sensors of the emulated board: they replay recordings on the analog pins (sensors.c) and on buses
 * (buses.c).
 */
#ifndef SENSORS_H
#define SENSORS_H

#include "uno.h"

/* The same numbers as in protonn_edge/extensions/sensing/packing.py. */
enum sensor_kind { SENSOR_ANALOG = 1, SENSOR_I2C = 2, SENSOR_SPI = 3, SENSOR_CONVERTER = 4 };
enum { SENSOR_FIFO = 1, SENSOR_HAS_ID = 2 }; /* flags */

struct recording {
    uint8_t kind;
    /* Of SPI: the bits of a register's address by which it is read; of a converter: pulses. */
    uint8_t address;
    uint8_t bytes; /* per sample */
    uint8_t flags;
    uint32_t rate_mhz;
    uint32_t samples;
    union {
        uint8_t inputs[8]; /* channel of the ADC, for each 16-bit value, little endian */
        struct {
            uint8_t first_data; /* the register at which the bytes of a sample begin */
            uint8_t id_register, id;
            uint8_t sleep_register, sleep_mask, sleep_value; /* the sensor sleeps while these bits
                                                              * have this value */
            uint8_t reset_register, reset_mask;              /* bits that restore all registers */
        } chip;
    };
    const uint8_t *values; /* sample by sample */
    bool playing;
    avr_cycle_count_t began;
};

/* ---- sensors.c ---- */

/* The bytes of the sample at this cycle. Playback begins with the first call after a reset, in the
 * middle of the first sample, and repeats. */
const uint8_t *recording_sample(struct recording *recording);

/* ---- buses.c: the sensors on buses, and the chip's end of the two-wire bus, in place of simavr's ---- */

bool sensor_bus_install(struct recording *recording);
void sensor_bus_reset(void);
void two_wire_install(void);

#endif
