/*
 * Sensors on buses, and the chip's end of the two-wire bus.
 */
#include "sensors.h"

#include <simavr/avr_ioport.h>
#include <simavr/avr_spi.h>
#include <simavr/avr_twi.h>
#include <string.h>

/* ---- sensors ----
 *
 * Sensors on the two-wire bus: each has an address and registers, which are read and written in
 * sequence.
 *
 * The first byte of a write selects a register, the others are written from there on; a read
 * continues from there. Data registers that are read in one transfer are of one sample, as the chips
 * guarantee.
 */

enum { REGISTERS = 256, DEVICES_MAX = 8 };

struct device {
    struct recording *recording;
    const uint8_t *sample; /* NULL before it has measured one */
    uint8_t registers[REGISTERS];
    uint8_t pointer, read;  /* and how many bytes of a FIFO or of a converter's sample were read */
    uint8_t pulses;         /* that ended the sample of a converter */
    bool selected, pointed; /* it is addressed; this write has already set the pointer */
    bool is_read;           /* this transfer of SPI */
};

static struct device devices[DEVICES_MAX];
static unsigned devices_count;

static void restore(struct device *device)
{
    const struct recording *is = device->recording;
    memset(device->registers, 0, sizeof device->registers);
    device->sample = NULL;
    device->registers[is->chip.sleep_register] = is->chip.sleep_value & is->chip.sleep_mask;
    if (is->flags & SENSOR_HAS_ID) {
        device->registers[is->chip.id_register] = is->chip.id;
    }
}

/* Returns the index of a register's byte in a sample; at least the sample's size if it has none. */
static uint8_t data_index(const struct recording *is, uint8_t place)
{
    const bool none = is->flags & SENSOR_FIFO && place != is->chip.first_data;
    return none ? UINT8_MAX : (uint8_t)(place - is->chip.first_data);
}

static void take_sample(struct device *device)
{
    const struct recording *is = device->recording;
    if ((device->registers[is->chip.sleep_register] & is->chip.sleep_mask) ==
        is->chip.sleep_value) {
        return; /* the sensor sleeps, and its data registers keep their values */
    }
    device->sample = recording_sample(device->recording);
    device->read = 0;
}

static void write_register(struct device *device, uint8_t value)
{
    const struct recording *is = device->recording;
    const uint8_t place = device->pointer++;
    if ((is->flags & SENSOR_HAS_ID && place == is->chip.id_register) ||
        data_index(is, place) < is->bytes) {
        return; /* these registers are read-only */
    }
    if (place == is->chip.reset_register && is->chip.reset_mask &&
        (value & is->chip.reset_mask) == is->chip.reset_mask) {
        restore(device);
    } else {
        device->registers[place] = value;
    }
}

static uint8_t read_register(struct device *device)
{
    const struct recording *is = device->recording;
    uint8_t index = data_index(is, device->pointer);
    if (index >= is->bytes) {
        return device->registers[device->pointer++];
    }
    if (is->flags & SENSOR_FIFO) {
        index = device->read++ % is->bytes;
    } else {
        device->pointer++;
    }
    return device->sample ? device->sample[index] : 0;
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

static bool two_wire_start(uint8_t address)
{
    for (unsigned i = 0; i < devices_count; i++) {
        struct device *device = &devices[i];
        device->selected = address >> 1 == device->recording->address;
        device->pointed = false;
        if (device->selected && address & 1 &&
            data_index(device->recording, device->pointer) < device->recording->bytes) {
            take_sample(device);
        }
    }
    return selected() != NULL;
}

static bool two_wire_write(uint8_t value)
{
    struct device *device = selected();
    if (!device) {
        return false;
    }
    if (device->pointed) {
        write_register(device, value);
    } else {
        device->pointer = value;
        device->pointed = true;
    }
    return true;
}

static uint8_t two_wire_read(void)
{
    struct device *device = selected();
    return device ? read_register(device) : 0xFF; /* pulled up */
}

static void two_wire_stop(void)
{
    for (unsigned i = 0; i < devices_count; i++) {
        devices[i].selected = false;
    }
}

/* ---- the chip ----
 *
 * The chip's two-wire interface, as a master.
 *
 * It replaces simavr's, which takes a microsecond per bit regardless of TWBR, and answers an address
 * with the status of a data byte. Section numbers are those of the ATmega328P data sheet, Atmel 8271.
 */

enum { TWINT = 0x80, TWEA = 0x40, TWSTA = 0x20, TWSTO = 0x10, TWEN = 0x04, TWIE = 0x01 }; /* TWCR */
enum { KEPT = TWEA | TWSTA | TWSTO | TWEN | TWIE, TWPS = 0x03, NOTHING = 0xF8 };

static struct {
    avr_int_vector_t *interrupt;
    uint16_t twbr, twsr, twdr, twcr;
    enum { IDLE, STARTED, SENDING, RECEIVING } phase;
    uint8_t status, received; /* at the end of the transfer in progress */
} twi;

static avr_cycle_count_t bit_cycles(void) /* 22.5.2 */
{
    return 16 + ((avr_cycle_count_t)2 * avr->data[twi.twbr] << 2 * (avr->data[twi.twsr] & TWPS));
}

static void set_status(uint8_t status)
{
    avr->data[twi.twsr] = status | (avr->data[twi.twsr] & TWPS);
}

static avr_cycle_count_t on_done(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    if (twi.phase == RECEIVING && (twi.status == 0x50 || twi.status == 0x58)) {
        avr->data[twi.twdr] = twi.received;
    }
    set_status(twi.status);
    avr_raise_interrupt(avr, twi.interrupt); /* sets TWINT, too */
    return 0;
}

static void finish_after(unsigned bits, uint8_t status)
{
    twi.status = status;
    avr_cycle_timer_register(avr, bits * bit_cycles(), on_done, NULL);
}

static void stop(void)
{
    avr_cycle_timer_cancel(avr, on_done, NULL);
    two_wire_stop();
    twi.phase = IDLE;
    avr->data[twi.twcr] &= ~TWSTO;
    set_status(NOTHING);
}

/* Transfers a byte and its acknowledgement, as TWDR and the phase request (22.7). */
static void move_byte(bool acknowledge)
{
    const uint8_t byte = avr->data[twi.twdr];
    if (twi.phase == STARTED) {
        const bool answered = two_wire_start(byte);
        twi.phase = byte & 1 ? RECEIVING : SENDING;
        finish_after(9, byte & 1 ? (answered ? 0x40 : 0x48) : (answered ? 0x18 : 0x20));
    } else if (twi.phase == SENDING) {
        finish_after(9, two_wire_write(byte) ? 0x28 : 0x30);
    } else if (twi.phase == RECEIVING) {
        twi.received = two_wire_read();
        finish_after(9, acknowledge ? 0x50 : 0x58);
    }
}

static void write_twcr(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    const uint8_t flag = avr->data[address] & TWINT;
    avr->data[address] = (value & KEPT) | flag;
    if (!(value & TWEN)) {
        avr->data[address] &= ~TWINT;
        twi.interrupt->pending = 0;
        stop();
        return;
    }
    if (!(value & TWINT)) { /* a 1 clears the flag and starts the operation */
        if (flag && value & TWIE) {
            avr_raise_interrupt(avr, twi.interrupt);
        }
        return;
    }
    avr->data[address] &= ~TWINT;
    twi.interrupt->pending = 0;
    if (value & TWSTO) {
        stop();
    }
    if (value & TWSTA) {
        finish_after(1, twi.phase == IDLE ? 0x08 : 0x10);
        twi.phase = STARTED;
    } else if (!(value & TWSTO)) {
        move_byte(value & TWEA);
    }
}

static void write_twsr(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    avr->data[address] = (avr->data[address] & ~TWPS) | (value & TWPS);
}

/* simavr has cancelled all timers by now. */
static void on_reset(avr_io_t *io)
{
    two_wire_stop();
    twi.phase = IDLE;
    avr->data[twi.twsr] = NOTHING;
}

void two_wire_install(void)
{
    static avr_io_t io = {.kind = "two-wire", .reset = on_reset};
    avr_twi_t *replaced = (avr_twi_t *)core_replace("twi", 0, &io);
    if (!replaced) {
        return;
    }
    twi.interrupt = &replaced->twi;
    twi.twbr = replaced->r_twbr;
    twi.twsr = replaced->r_twsr;
    twi.twdr = replaced->r_twdr;
    twi.twcr = replaced->r_twcr;
    core_register(twi.twcr, NULL, write_twcr);
    core_register(twi.twsr, NULL, write_twsr);
    core_register(twi.twdr, NULL, NULL);
}

/* ---- SPI ----
 *
 * A chip is selected by any pin of port B that goes low. The first byte is a register's address.
 * simavr delivers the bytes that the chip sends at the end of their transfers.
 */

static avr_irq_t *spi_input;

static void on_select(avr_irq_t *irq, uint32_t value, void *parameter)
{
    struct device *device = parameter;
    device->selected = !value;
    device->pointed = false;
}

static void on_spi_byte(avr_irq_t *irq, uint32_t value, void *parameter)
{
    struct device *device = parameter;
    const uint8_t read_bits = device->recording->address;
    uint8_t answer = 0xFF;
    if (device->selected && !device->pointed) {
        device->pointed = true;
        device->is_read = value & read_bits;
        device->pointer = value & ~read_bits;
        if (device->is_read && data_index(device->recording, device->pointer) == 0) {
            take_sample(device);
        }
    } else if (device->selected && device->is_read) {
        answer = read_register(device);
    } else if (device->selected) {
        write_register(device, (uint8_t)value);
    }
    avr_raise_irq(spi_input, answer);
}

/* ---- a converter on SPI ----
 *
 * It has no registers. Pulses of the clock, a pin of port B, end the bytes of a sample, and select the
 * input of the next one: the first sample after a reset is none of the recording. While the converter
 * has no new sample it holds MISO high, else low: here, all inputs of port B.
 */

static void hold_inputs(bool high)
{
    avr_ioport_state_t state;
    avr_ioctl(avr, AVR_IOCTL_IOPORT_GETSTATE('B'), &state);
    for (unsigned bit = 0; bit < 8; bit++) {
        if (!(state.ddr >> bit & 1)) {
            pins_hold('B', bit, true, high);
        }
    }
}

static void offer_sample(struct device *device)
{
    device->read = device->pulses = 0;
    hold_inputs(false);
}

static avr_cycle_count_t on_new_sample(avr_t *core, avr_cycle_count_t when, void *parameter)
{
    struct device *device = parameter;
    const struct recording *is = device->recording;
    if (device->pulses == is->address) {
        offer_sample(device);
    }
    return when + 1000ull * chip.clock_hz / is->rate_mhz;
}

static void on_pulse(avr_irq_t *irq, uint32_t value, void *parameter)
{
    struct device *device = parameter;
    const struct recording *is = device->recording;
    if (!value || device->read < is->bytes || device->pulses == is->address) {
        return;
    }
    device->pulses++;
    if (device->pulses == is->address && device->selected) {
        hold_inputs(true);
    } else if (device->pulses == is->address) {
        device->selected = true;
        offer_sample(device);
    }
}

static void on_converted_byte(avr_irq_t *irq, uint32_t value, void *parameter)
{
    struct device *device = parameter;
    struct recording *is = device->recording;
    if (device->selected && !is->playing) {
        avr_cycle_timer_register(avr, 500ull * chip.clock_hz / is->rate_mhz, on_new_sample, device);
    }
    if (device->selected && device->read == 0) {
        device->sample = recording_sample(is);
    }
    const uint8_t place = device->read;
    device->read = place < is->bytes ? place + 1 : place;
    avr_raise_irq(spi_input, device->sample && place < is->bytes ? device->sample[place] : 0xFF);
}

void sensor_bus_reset(void)
{
    for (unsigned i = 0; i < devices_count; i++) {
        if (devices[i].recording->kind == SENSOR_CONVERTER) {
            devices[i].selected = false;
            offer_sample(&devices[i]);
        }
    }
}

static bool spi_install(struct device *device)
{
    const bool converts = device->recording->kind == SENSOR_CONVERTER;
    avr_irq_t *output = avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_OUTPUT);
    spi_input = avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_INPUT);
    if (!output || !spi_input) {
        return false;
    }
    avr_irq_register_notify(output, converts ? on_converted_byte : on_spi_byte, device);
    for (int pin = 0; pin < 8; pin++) {
        avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), pin);
        avr_irq_register_notify(irq, converts ? on_pulse : on_select, device);
    }
    return true;
}

bool sensor_bus_install(struct recording *recording)
{
    if (devices_count == DEVICES_MAX) {
        return false;
    }
    struct device *device = &devices[devices_count++];
    device->recording = recording;
    restore(device);
    if (recording->kind == SENSOR_SPI || recording->kind == SENSOR_CONVERTER) {
        return spi_install(device);
    }
    return twi.interrupt != NULL; /* some chips have none */
}
