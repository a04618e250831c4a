/*
 * The recordings that sensors replay, and those on analog inputs.
 *
 * Their file, little endian: "PNNSENS1", the number of recordings as u32; for each its kind u8, place
 * u8, channels u8, 0, its rate u32 in thousandths of a hertz, its samples u32, its values i16.
  */
#include "uno.h"

#include <simavr/avr_adc.h>
#include <string.h>

enum { SENSORS_MAX = 8, HEAD_BYTES = 12, RECORD_BYTES = 12, CHANNELS_MAX = 8 };

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
        .place = bytes[1],
        .channels = bytes[2],
        .rate_mhz = word_at(bytes + 4),
        .samples = word_at(bytes + 8),
        .values = bytes + RECORD_BYTES,
    };
    const uint64_t value_bytes = 2ull * recording->channels * recording->samples;
    if (recording->channels == 0 || recording->channels > CHANNELS_MAX || recording->samples == 0 ||
        recording->rate_mhz == 0 || value_bytes > count - RECORD_BYTES) {
        return 0;
    }
    return RECORD_BYTES + (size_t)value_bytes;
}

bool sensors_read(const uint8_t *bytes, size_t count)
{
    if (count < HEAD_BYTES || memcmp(bytes, "PNNSENS1", 8) != 0) {
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

uint32_t recording_position(struct recording *recording)
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
    return (uint32_t)(played / 1000 % recording->samples);
}

int16_t recording_value(const struct recording *recording, uint32_t position, unsigned channel)
{
    const uint8_t *value =
        recording->values + 2 * ((size_t)position * recording->channels + channel);
    return (int16_t)(value[0] | value[1] << 8);
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
    const unsigned pin = started.mux.src;
    if (started.mux.kind != ADC_MUX_SINGLE || pin < recording->place ||
        pin >= (unsigned)recording->place + recording->channels) {
        return;
    }
    const uint32_t position = recording_position(recording);
    const int16_t count = recording_value(recording, position, pin - recording->place);
    const uint32_t kept = count < 0 ? 0 : count > FULL_SCALE ? FULL_SCALE : (uint32_t)count;
    avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, (int)pin);
    avr_raise_irq(input, (kept * SUPPLY_MV + FULL_SCALE - 1) / FULL_SCALE);
}

static bool sensor_adc_install(struct recording *recording)
{
    avr_irq_t *trigger = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER);
    if (!trigger || recording->place + recording->channels > 8) {
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
}

bool sensors_install(void)
{
    static avr_io_t io = {.kind = "sensors", .reset = on_reset};
    for (unsigned i = 0; i < recordings_count; i++) {
        struct recording *recording = &recordings[i];
        if (!(recording->kind == SENSOR_ANALOG ? sensor_adc_install(recording)
                                               : sensor_twi_install(recording))) {
            return false;
        }
    }
    avr_register_io(avr, &io);
    return true;
}
