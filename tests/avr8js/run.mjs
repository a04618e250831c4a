/*
 * Run a firmware on avr8js, an emulator that shares nothing with libsimavr, and talk to it as the
 * host does.
 *
 *     node run.mjs PACKAGES FIRMWARE.hex < frames
 *
 * PACKAGES is a folder with node_modules/. A frame is a line of hexadecimal digits; each is sent at
 * wire speed, its reply awaited, and a JSON object printed: the reply, what was counted between the
 * marks in GPIOR0 meanwhile, the received bytes that were lost so far, and the most cycles so far
 * that interrupts were off once they had been on.
 *
 * avr8js differs from the chip in a few ways; each place below that makes up for one says so.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { argv, stdin, stdout } from "node:process";

const [packages, firmware] = argv.slice(2);
const require = createRequire(resolve(packages, "package.json"));
const { AVRTimer, AVRUSART, CPU, avrInstruction, timer1Config, usart0Config } = require("avr8js");

const CLOCK_HZ = 16_000_000;
const FLASH_BYTES = 0x8000;
const SRAM_BYTES = 2048;
const GPIOR0 = 0x3e; // data addresses
const SREG = 0x5f;
const ZERO_FLAG = 0x02;
const INTERRUPT_FLAG = 0x80;
const UCSR0A = 0xc0;
const RECEIVED = 0x80; // RXC0
const REPLY_DEADLINE = 10 * CLOCK_HZ; // cycles

/* ---- the program ---- */

function flashOf(hex) {
    const flash = new Uint8Array(FLASH_BYTES).fill(0xff);
    for (const line of hex.split("\n").filter((text) => text.startsWith(":"))) {
        const record = Buffer.from(line.trim().slice(1), "hex");
        if (record[3] === 0) {
            flash.set(record.subarray(4, 4 + record[0]), record.readUInt16BE(1));
        }
    }
    return new Uint16Array(flash.buffer);
}

const cpu = new CPU(flashOf(readFileSync(firmware, "latin1")), SRAM_BYTES);
new AVRTimer(cpu, timer1Config);
const usart = new AVRUSART(cpu, usart0Config, CLOCK_HZ);

/* ---- marked spans: from the start of one OUT to the start of the next ---- */

const marked = { since: null, cycles: 0, spans: 0 };

cpu.writeHooks[GPIOR0] = (value) => {
    if (value !== 0 && marked.since === null) {
        marked.since = cpu.cycles;
    } else if (value === 0 && marked.since !== null) {
        marked.cycles += cpu.cycles - marked.since;
        marked.spans++;
        marked.since = null;
    }
};

/* ---- interrupts off ---- */

const masked = { since: null, longest: 0 };

function watchInterrupts(before) {
    if (cpu.interruptsEnabled) {
        if (masked.since !== null) {
            masked.longest = Math.max(masked.longest, cpu.cycles - masked.since);
        }
        masked.since = null;
    } else if (before & INTERRUPT_FLAG) {
        masked.since = cpu.cycles;
    }
}

/* ---- one instruction ---- */

const isCbi = (opcode) => (opcode & 0xff00) === 0x9800;
const isFmulsu = (opcode) => (opcode & 0xff88) === 0x0388;
const isSpm = (opcode) => (opcode & 0xffef) === 0x95e8;

/* SLEEP does nothing in avr8js: the firmware then polls its ring buffer, outside of all spans.
 * An interrupt may come right after SEI where the chip runs one more instruction: nothing depends
 * on it while SLEEP does nothing. */
function step() {
    const opcode = cpu.progMem[cpu.pc];
    if (opcode === 0xffff || isSpm(opcode)) {
        // avr8js runs on through erased flash, and has no SPM.
        throw new Error(`no instruction to run at 0x${(2 * cpu.pc).toString(16)}`);
    }
    const before = cpu.SREG;
    avrInstruction(cpu);
    if (isCbi(opcode)) {
        cpu.cycles++; // takes 2 on the chip, 1 in avr8js
    } else if (isFmulsu(opcode)) {
        cpu.data[SREG] ^= ZERO_FLAG; // avr8js inverts it
    }
    const next = cpu.pc;
    cpu.tick();
    if (cpu.pc !== next) {
        cpu.cycles += 2; // an interrupt's response takes 4 cycles on the chip, 2 in avr8js
    }
    watchInterrupts(before);
    if (cpu.SP < 0x100 || cpu.SP >= 0x100 + SRAM_BYTES) {
        throw new Error(`the stack pointer is 0x${cpu.SP.toString(16)}`); // avr8js checks nothing
    }
}

/* ---- the line ---- */

/* The chip's receiver holds two bytes and a third in its shift register; avr8js holds one and
 * forgets it when the next arrives. So the bytes wait here, and one that would be the fourth is
 * lost. (A write of UCSR0A clears UDRE in avr8js; the firmware writes it before TXEN, which sets
 * UDRE again.) */
const line = { sending: [], nextAt: 0, waiting: [], lost: 0, received: [] };

usart.onByteTransmit = (byte) => line.received.push(byte);

function carry() {
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

function ask(frame) {
    const deadline = cpu.cycles + REPLY_DEADLINE;
    line.received.length = 0;
    line.sending.push(...frame);
    while (line.received.at(-1) !== 0) {
        if (cpu.cycles > deadline) {
            throw new Error(`no reply to ${Buffer.from(frame).toString("hex")}`);
        }
        step();
        carry();
    }
    return Buffer.from(line.received);
}

for (const text of readFileSync(stdin.fd, "latin1").split("\n").filter(Boolean)) {
    marked.cycles = marked.spans = 0;
    const reply = ask(Buffer.from(text, "hex")).toString("hex");
    const { cycles, spans } = marked;
    const answer = { reply, cycles, spans, lost: line.lost, masked: masked.longest };
    stdout.write(`${JSON.stringify(answer)}\n`);
}
