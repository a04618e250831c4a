/*
 * Sensors on the two-wire bus: registers behind an address, read and written one after the other.
 *
 * A write sets the register to begin with, then registers; a read goes on from there. What is read at
 * once of the data registers is one sample, as the chips guarantee it. simavr takes 1 us a bit whatever
 * TWBR says.
 */
#include "sensors.h"

#include <stdlib.h>
#include <string.h>

#include <simavr/avr_twi.h>

enum { REGISTERS = 128, CHANNELS_MAX = 6 };

/* What differs from chip to chip. */
struct model {
    uint8_t kind;
    uint8_t address; /* of 7 bits */
    uint8_t channels;
    uint8_t id_register, id;
    uint8_t first_data, last_data;      /* registers */
    uint8_t value_at[CHANNELS_MAX];     /* the register of each channel's first byte */
    bool big_endian;                    /* else little endian */
    uint8_t power_register, power_mask; /* it measures while these bits... */
    uint8_t power_value;                /* ... are so */
    uint8_t power_at_start;
    uint8_t reset_mask; /* bits of the power register that restore all registers */
};

static const struct model models[] = {
    {SENSOR_MPU6050,
     0x68,
     6,
     0x75,
     0x68,
     0x3B,
     0x48,
     {0x3B, 0x3D, 0x3F, 0x43, 0x45, 0x47},
     true,
     0x6B,
     0x40,
     0x00,
     0x40,
     0x80},
    {SENSOR_ADXL345,
     0x53,
     3,
     0x00,
     0xE5,
     0x32,
     0x37,
     {0x32, 0x34, 0x36},
     false,
     0x2D,
     0x08,
     0x08,
     0x00,
     0x00},
};

struct device {
    const struct model *model;
    struct recording *recording;
    uint8_t registers[REGISTERS];
    uint8_t pointer;
    bool selected, pointed; /* it was addressed; this write has set the pointer */
};

static void restore(struct device *device)
{
    memset(device->registers, 0, sizeof device->registers);
    device->registers[device->model->id_register] = device->model->id;
    device->registers[device->model->power_register] = device->model->power_at_start;
}

static bool is_data(const struct model *model, uint8_t place)
{
    return place >= model->first_data && place <= model->last_data;
}

static void take_sample(struct device *device)
{
    const struct model *model = device->model;
    const uint8_t power = device->registers[model->power_register];
    if ((power & model->power_mask) != model->power_value) {
        return; /* it sleeps, and its data stay */
    }
    const uint32_t position = recording_position(device->recording);
    for (unsigned channel = 0; channel < model->channels; channel++) {
        const uint16_t value = (uint16_t)recording_value(device->recording, position, channel);
        uint8_t *place = device->registers + model->value_at[channel];
        place[model->big_endian ? 0 : 1] = (uint8_t)(value >> 8);
        place[model->big_endian ? 1 : 0] = (uint8_t)value;
    }
}

static void write_register(struct device *device, uint8_t value)
{
    const struct model *model = device->model;
    const uint8_t place = device->pointer++ % REGISTERS;
    if (place == model->id_register || is_data(model, place)) {
        return; /* they can only be read */
    }
    if (place == model->power_register && value & model->reset_mask) {
        restore(device);
    } else {
        device->registers[place] = value;
    }
}

static void answer(uint8_t message, const struct device *device, uint8_t data)
{
    avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_TWI_GETIRQ(0), TWI_IRQ_INPUT);
    avr_raise_irq(input, avr_twi_irq_msg(message, (uint8_t)(device->model->address << 1), data));
}

static void on_message(avr_irq_t *irq, uint32_t value, void *parameter)
{
    (void)irq;
    struct device *device = parameter;
    const avr_twi_msg_irq_t message = {.u.v = value};
    const uint8_t what = message.u.twi.msg, address = message.u.twi.addr;
    if (what & TWI_COND_STOP) {
        device->selected = false;
    }
    if (what & TWI_COND_START) {
        device->selected = address >> 1 == device->model->address;
        device->pointed = false;
        if (device->selected) {
            answer(TWI_COND_ACK, device, 1);
            if (address & 1 && is_data(device->model, device->pointer)) {
                take_sample(device);
            }
        }
    }
    if (!device->selected) {
        return;
    }
    if (what & TWI_COND_WRITE) {
        answer(TWI_COND_ACK, device, 1);
        if (device->pointed) {
            write_register(device, message.u.twi.data);
        } else {
            device->pointer = message.u.twi.data;
            device->pointed = true;
        }
    }
    if (what & TWI_COND_READ) {
        answer(TWI_COND_READ, device, device->registers[device->pointer++ % REGISTERS]);
    }
}

bool sensor_twi_install(struct recording *recording)
{
    avr_irq_t *output = avr_io_getirq(avr, AVR_IOCTL_TWI_GETIRQ(0), TWI_IRQ_OUTPUT);
    for (size_t i = 0; output && i < sizeof models / sizeof models[0]; i++) {
        const struct model *model = &models[i];
        struct device *device = model->kind == recording->kind ? calloc(1, sizeof *device) : NULL;
        if (!device || model->channels != recording->channels) {
            continue;
        }
        device->model = model;
        device->recording = recording;
        restore(device);
        avr_irq_register_notify(output, on_message, device);
        return true;
    }
    return false;
}
