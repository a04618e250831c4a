/* Sensors of the emulated board: recordings that are replayed on its analog pins (sensors.c) and its
 * two-wire bus (twi.c). */
#ifndef SENSORS_H
#define SENSORS_H

#include "uno.h"

/* The same numbers as in protonn_edge/sensors/played.py. */
enum sensor_kind { SENSOR_ANALOG = 1, SENSOR_MPU6050 = 2, SENSOR_ADXL345 = 3 };

struct recording {
    uint8_t kind;
    uint8_t place;    /* the first analog pin */
    uint8_t channels; /* values per sample */
    uint32_t rate_mhz;
    uint32_t samples;
    const uint8_t *values; /* little endian, 16 bits, sample by sample */
    bool playing;
    avr_cycle_count_t began;
};

/* Read recordings from a file's bytes, which remain in use; false if the file is damaged. */
bool sensors_read(const uint8_t *bytes, size_t count);

/* Attach them to the chip; false if it has no such inputs. */
bool sensors_install(void);

/* The index of the sample at this cycle. Playback begins with the first call after a reset, in the
 * middle of the first sample, and repeats. */
uint32_t recording_position(struct recording *recording);
int16_t recording_value(const struct recording *recording, uint32_t position, unsigned channel);

/* ---- twi.c: a sensor, and the chip's end of the bus, which replaces simavr's ---- */
bool sensor_twi_install(struct recording *recording);
void twi_install(void);
bool twi_is_there(void); /* some chips have none */

#endif
