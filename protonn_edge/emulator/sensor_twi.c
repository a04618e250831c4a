/*
 * Sensors on the two-wire bus: each has an address and registers, which are read and written in
 * sequence.
 *
 * The first byte of a write selects a register, the others are written from there on; a read
 * continues from there. Data registers that are read in one transfer are of one sample, as the chips
 * guarantee.
 */
#include "sensors.h"

#include <string.h>

enum { REGISTERS = 128, CHANNELS_MAX = 6 };

/* The properties of a chip. */
struct model {
    uint8_t kind;
    uint8_t address; /* 7 bits */
    uint8_t channels;
    uint8_t id_register, id;
    uint8_t first_data, last_data;      /* registers */
    uint8_t value_at[CHANNELS_MAX];     /* the register of each channel's first byte */
    bool big_endian;                    /* else little endian */
    uint8_t power_register, power_mask; /* the chip measures while these bits... */
    uint8_t power_value;                /* ... have this value */
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
    bool selected, pointed; /* it is addressed; this write has set the pointer */
};

static struct device devices[sizeof models / sizeof models[0]];
static unsigned devices_count;

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
        return; /* it sleeps, and its data registers keep their values */
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
        return; /* these registers are read-only */
    }
    if (place == model->power_register && value & model->reset_mask) {
        restore(device);
    } else {
        device->registers[place] = value;
    }
}

static struct device *selected(void)
{
    for (unsigned i = 0; i < devices_count; i++) {
        if (devices[i].selected) {
            return &devices[i];
        }
    }
    return NULL;
}

bool two_wire_start(uint8_t address)
{
    for (unsigned i = 0; i < devices_count; i++) {
        struct device *device = &devices[i];
        device->selected = address >> 1 == device->model->address;
        device->pointed = false;
        if (device->selected && address & 1 && is_data(device->model, device->pointer)) {
            take_sample(device);
        }
    }
    return selected() != NULL;
}

bool two_wire_write(uint8_t value)
{
    struct device *device = selected();
    if (!device) {
        return false;
    }
    if (device->pointed) {
        write_register(device, value);
    } else {
        device->pointer = value % REGISTERS;
        device->pointed = true;
    }
    return true;
}

uint8_t two_wire_read(void)
{
    struct device *device = selected();
    return device ? device->registers[device->pointer++ % REGISTERS] : 0xFF; /* pulled up */
}

void two_wire_stop(void)
{
    for (unsigned i = 0; i < devices_count; i++) {
        devices[i].selected = false;
    }
}

bool sensor_twi_install(struct recording *recording)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const struct model *model = &models[i];
        if (model->kind == recording->kind && model->channels == recording->channels &&
            devices_count < sizeof devices / sizeof devices[0]) {
            struct device *device = &devices[devices_count++];
            device->model = model;
            device->recording = recording;
            restore(device);
            return twi_is_there();
        }
    }
    return false;
}
