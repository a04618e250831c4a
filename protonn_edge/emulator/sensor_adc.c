/*
 * Recordings on analog inputs: each conversion uses the sample at the time when it begins.
 *
 * Values are 10-bit counts for a reference of AVCC, 5 V; simavr gets the lowest voltage that converts
 * to them. With another reference the chip converts that voltage, as the real one does.
 */
#include "sensors.h"

#include <simavr/avr_adc.h>

enum { SUPPLY_MV = 5000, FULL_SCALE = 1023 };

static void on_conversion(avr_irq_t *irq, uint32_t value, void *parameter)
{
    (void)irq;
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

bool sensor_adc_install(struct recording *recording)
{
    avr_irq_t *trigger = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER);
    if (!trigger || recording->place + recording->channels > 8) {
        return false;
    }
    avr->vcc = avr->avcc = avr->aref = SUPPLY_MV;
    avr_irq_register_notify(trigger, on_conversion, recording);
    return true;
}
