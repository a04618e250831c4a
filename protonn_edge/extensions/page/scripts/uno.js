/*
 * An Arduino Uno with a firmware in it, on avr8js, and the serial line to it.
 *
 * It is used by the report's page, by emulator.js (without simavr), and by tests/chips/avr8js, which compares
 * it with simavr. avr8js is passed in, so that this file depends on no package. It differs from the chip
 * in a few ways; each correction below has a comment.
 */

export const CLOCK_HZ = 16_000_000;

const FLASH_BYTES = 0x8000;
const SRAM_START = 0x100;
const SRAM_BYTES = 2048;
const PORTB = 0x25; // data addresses
const GPIOR0 = 0x3e;
const SMCR = 0x53;
const SREG = 0x5f;
const UCSR0A = 0xc0;
const ZERO_FLAG = 0x02;
const RECEIVED = 0x80; // RXC0
const SLEEP_ENABLE = 0x01; // SE
const BUSY_PIN = 0x01; // PB0, pin 8
const REPLY_DEADLINE = 10 * CLOCK_HZ; // cycles
const DOZE_CYCLES = 128; // that a sleep goes on at once: avr8js's timers count each cycle, and catch up
const CYCLES_AT_ONCE = 400_000; // about 10 ms of the reader's time

const SEI = 0x9478;
const SLEEP = 0x9588;
const isCbi = (opcode) => (opcode & 0xff00) === 0x9800;
const isFmulsu = (opcode) => (opcode & 0xff88) === 0x0388;
const isSpm = (opcode) => (opcode & 0xffef) === 0x95e8;

/** Return flash, as large as the chip's, with a program from address 0 on. */
export function flashWith(program) {
    const flash = new Uint8Array(FLASH_BYTES).fill(0xff);
    flash.set(program);
    return new Uint16Array(flash.buffer);
}

export class Uno {
    /**
     * @param avr8js The package.
     * @param {Uint16Array} flash The program, see `flashWith`.
     */
    constructor({ AVRTimer, AVRUSART, CPU, avrInstruction, timer1Config, usart0Config }, flash) {
        this.cpu = new CPU(flash, SRAM_BYTES);
        this.instruction = avrInstruction;
        new AVRTimer(this.cpu, timer1Config);
        this.usart = new AVRUSART(this.cpu, usart0Config, CLOCK_HZ);
        /* Spans from the start of one OUT to GPIOR0 to the start of the next. */
        this.marked = { since: null, cycles: 0, spans: 0 };
        this.cpu.writeHooks[GPIOR0] = (value) => count(this.marked, this.cpu.cycles, value !== 0);
        /* Time for which the busy pin is high. */
        this.busy = { since: null, cycles: 0, spans: 0 };
        this.cpu.writeHooks[PORTB] = (value) => {
            count(this.busy, this.cpu.cycles, (value & BUSY_PIN) !== 0);
        };
        /* The chip's receiver holds two bytes and a third in its shift register; avr8js holds one and
         * forgets it when the next arrives. So the bytes wait here, and one that would be the fourth
         * is lost. (A write of UCSR0A clears UDRE in avr8js; the firmware writes it before TXEN, which
         * sets UDRE again.) */
        this.line = { sending: [], nextAt: 0, waiting: [], lost: 0, received: [] };
        this.usart.onByteTransmit = (byte) => this.line.received.push(byte);
        this.asleep = false;
    }

    /** Run one instruction and its effects; asleep, pass the time until something happens. */
    step() {
        const { cpu } = this;
        if (this.asleep) {
            this.doze();
            return;
        }
        const opcode = cpu.progMem[cpu.pc];
        if (opcode === 0xffff || isSpm(opcode)) {
            // avr8js runs on through erased flash, and has no SPM.
            throw new Error(`no instruction to run at 0x${(2 * cpu.pc).toString(16)}`);
        }
        this.instruction(cpu);
        if (isCbi(opcode)) {
            cpu.cycles++; // takes 2 on the chip, 1 in avr8js
        } else if (isFmulsu(opcode)) {
            cpu.data[SREG] ^= ZERO_FLAG; // avr8js inverts it
        } else if (opcode === SLEEP && cpu.data[SMCR] & SLEEP_ENABLE) {
            if (!cpu.interruptsEnabled) {
                throw new Error("sleeps with interrupts disabled");
            }
            this.asleep = true; // avr8js only counts its cycle
        }
        if (opcode !== SEI) {
            this.follow(); // no interrupt comes between SEI and the next instruction
        }
        if (cpu.SP < SRAM_START || cpu.SP >= SRAM_START + SRAM_BYTES) {
            throw new Error(`the stack pointer is 0x${cpu.SP.toString(16)}`); // avr8js checks nothing
        }
    }

    /** Run what is due by now; an interrupt ends a sleep. */
    follow() {
        const { cpu } = this;
        const next = cpu.pc;
        cpu.tick();
        if (cpu.pc !== next) {
            cpu.cycles += 2; // an interrupt's response takes 4 cycles on the chip, 2 in avr8js
            this.asleep = false;
        }
    }

    /** Sleep on for a while, at most until the next byte is there. */
    doze() {
        const { cpu, line } = this;
        if (cpu.nextInterrupt < 0) {
            const byte = line.sending.length > 0 ? line.nextAt : Infinity;
            cpu.cycles = Math.max(cpu.cycles + 1, Math.min(byte, cpu.cycles + DOZE_CYCLES));
        }
        this.follow();
    }

    /** Bring the next byte when the line has carried it. */
    carry() {
        const { cpu, line, usart } = this;
        if (line.sending.length > 0 && usart.rxEnable && cpu.cycles >= line.nextAt) {
            const byte = line.sending.shift();
            if (line.waiting.length < 2) {
                line.waiting.push(byte);
            } else {
                line.lost++;
            }
            line.nextAt = cpu.cycles + 10 * (usart.UBRR + 1) * usart.multiplier; // 8N1
        }
        if (line.waiting.length > 0 && !(cpu.data[UCSR0A] & RECEIVED)) {
            usart.writeByte(line.waiting.shift(), true);
        }
    }

    /** Send a frame and run until the reply's end; yields now and then, returns the reply's bytes. */
    *ask(frame) {
        const { cpu, line } = this;
        const deadline = cpu.cycles + REPLY_DEADLINE;
        let pause = cpu.cycles + CYCLES_AT_ONCE;
        line.received.length = 0;
        line.sending.push(...frame);
        while (line.received.at(-1) !== 0) {
            this.step();
            this.carry();
            if (cpu.cycles > pause) {
                if (cpu.cycles > deadline) {
                    throw new Error("the firmware does not reply");
                }
                pause += CYCLES_AT_ONCE;
                yield;
            }
        }
        return Uint8Array.from(line.received);
    }
}

/** Add the time from where a level goes up to where it goes down. */
function count(spans, now, high) {
    if (high && spans.since === null) {
        spans.since = now;
    } else if (!high && spans.since !== null) {
        spans.cycles += now - spans.since;
        spans.spans++;
        spans.since = null;
    }
}
