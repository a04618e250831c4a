/*
 * The recordings that sensors replay, and those on analog inputs.
 *
 * Their file, little endian: "PNNSENS2", the number of recordings as u32; for each the fields of
 * struct recording, its rate as u32 in thousandths of a hertz, and its samples.
 */
#include "sensors.h"

#include <simavr/avr_adc.h>
#include <string.h>

enum { SENSORS_MAX = 8, HEAD_BYTES = 12, RECORD_BYTES = 20, SAMPLE_BYTES_MAX = 32 };

static struct recording recordings[SENSORS_MAX];
static unsigned recordings_count;

static uint32_t word_at(const uint8_t *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Reads one recording; returns the bytes that it takes, 0 if it is damaged. */
static size_t read_recording(struct recording *recording, const uint8_t *bytes, size_t count)
{
    if (count < RECORD_BYTES) {
        return 0;
    }
    *recording = (struct recording){
        .kind = bytes[0],
        .address = bytes[1],
        .bytes = bytes[2],
        .flags = bytes[3],
        .rate_mhz = word_at(bytes + 4),
        .samples = word_at(bytes + 8),
        .values = bytes + RECORD_BYTES,
    };
    memcpy(recording->inputs, bytes + 12, sizeof recording->inputs);
    const unsigned most =
        recording->kind == SENSOR_ANALOG ? 2 * sizeof recording->inputs : SAMPLE_BYTES_MAX;
    const uint64_t value_bytes = (uint64_t)recording->bytes * recording->samples;
    if (recording->bytes == 0 || recording->bytes > most || recording->samples == 0 ||
        recording->rate_mhz == 0 || value_bytes > count - RECORD_BYTES) {
        return 0;
    }
    return RECORD_BYTES + (size_t)value_bytes;
}

static bool read_recordings(const uint8_t *bytes, size_t count)
{
    if (count < HEAD_BYTES || memcmp(bytes, "PNNSENS2", 8) != 0) {
        return false;
    }
    const uint32_t announced = word_at(bytes + 8);
    if (announced > SENSORS_MAX) {
        return false;
    }
    size_t at = HEAD_BYTES;
    while (recordings_count < announced) {
        const size_t taken = read_recording(&recordings[recordings_count], bytes + at, count - at);
        if (taken == 0) {
            return false;
        }
        at += taken;
        recordings_count++;
    }
    return at == count;
}

const uint8_t *recording_sample(struct recording *recording)
{
    if (!recording->playing) {
        recording->playing = true;
        recording->began = avr->cycle;
    }
    /* In thousandths of a sample; whole seconds separately, so that no product exceeds 64 bits. */
    const uint64_t elapsed = avr->cycle - recording->began;
    const uint64_t rest = elapsed % chip.clock_hz;
    const uint64_t played = elapsed / chip.clock_hz * recording->rate_mhz +
                            rest * recording->rate_mhz / chip.clock_hz + 500;
    return recording->values + played / 1000 % recording->samples * recording->bytes;
}

/* ---- analog inputs ----
 *
 * Recordings on analog inputs: each conversion uses the sample at the time when it begins.
 *
 * Values are 10-bit counts for a reference of AVCC, 5 V; simavr gets the lowest voltage that converts
 * to them. With another reference the chip converts that voltage, as the real one does.
 */

enum { SUPPLY_MV = 5000, FULL_SCALE = 1023 };

static void on_conversion(avr_irq_t *irq, uint32_t value, void *parameter)
{
    struct recording *recording = parameter;
    const union {
        uint32_t value;
        avr_adc_mux_t mux;
    } started = {.value = value};
    const uint8_t pin = started.mux.src;
    const uint8_t *place = memchr(recording->inputs, pin, recording->bytes / 2);
    if (started.mux.kind != ADC_MUX_SINGLE || !place) {
        return;
    }
    const uint8_t *bytes = recording_sample(recording) + 2 * (place - recording->inputs);
    const unsigned count = bytes[0] | bytes[1] << 8;
    const uint32_t kept = count > FULL_SCALE ? FULL_SCALE : count;
    avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, (int)pin);
    avr_raise_irq(input, (kept * SUPPLY_MV + FULL_SCALE - 1) / FULL_SCALE);
}

static bool sensor_adc_install(struct recording *recording)
{
    avr_irq_t *trigger = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER);
    if (!trigger) {
        return false;
    }
    avr->vcc = avr->avcc = avr->aref = SUPPLY_MV;
    avr_irq_register_notify(trigger, on_conversion, recording);
    return true;
}

/* ---- all of them ---- */

static void on_reset(avr_io_t *io)
{
    for (unsigned i = 0; i < recordings_count; i++) {
        recordings[i].playing = false;
    }
    sensor_bus_reset();
}

static bool install(void)
{
    two_wire_install();
    static avr_io_t io = {.kind = "sensors", .reset = on_reset};
    for (unsigned i = 0; i < recordings_count; i++) {
        struct recording *recording = &recordings[i];
        if (!(recording->kind == SENSOR_ANALOG ? sensor_adc_install(recording)
                                               : sensor_bus_install(recording))) {
            return false;
        }
    }
    avr_register_io(avr, &io);
    return true;
}

static const struct board_parts sensors = {.read = read_recordings, .install = install};

__attribute__((constructor)) static void add(void) { board_parts = &sensors; }
