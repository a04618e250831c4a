/*
 * An emulated Uno in a Node.js process: the counterpart of protonn_edge/chips/emulator/uno.c, with the
 * same options, commands and answers, for systems without libsimavr. It does only what an Uno does with
 * the firmware of `build`: there is no bootloader, sensor, pseudo-terminal or watchdog.
 *
 *   node emulator.min.cjs --clock HZ --image-bytes NUMBER [--port NUMBER] [--wire-speed] [--bss-end ADDRESS]
 * uno.c explains these options, stdin, stdout and the pace of emulated time; its other options are
 * ignored.
 */
import { createServer } from "node:net";
import { performance } from "node:perf_hooks";
import process, { argv, exit, stderr, stdin, stdout } from "node:process";

import {
    AVRTimer,
    AVRUSART,
    CPU,
    avrInstruction,
    timer0Config,
    timer1Config,
    timer2Config,
    usart0Config,
} from "avr8js";

import { CLOCK_HZ, Uno, flashWith } from "./uno.js";

const avr8js = { AVRTimer, AVRUSART, CPU, avrInstruction, timer1Config, usart0Config };

const SPL = 0x5d; // data addresses
const SPH = 0x5e;
const UCSR0A = 0xc0;
const SENT = 0x20; // UDRE0
const RAMEND = 0x8ff;
const EXIT_USAGE = 2;
const MOST_FAULTS = 16;
const SLICE_S = 0.001;
const FORGIVEN_MS = 10; // the longest delay of the computer that is caught up
const MOST_SENDING = 4096; // bytes waiting for the line
const MOST_UNREAD = 65536; // bytes waiting for the client

/** An Uno that knows its stack. */
class WatchedUno extends Uno {
    stack = RAMEND;
    settled = true; // avr-gcc writes SPH, SREG, SPL; in between, SP is meaningless

    constructor(program, floor) {
        super(avr8js, flashWith(program));
        this.floor = floor;
        for (const config of [timer0Config, timer2Config]) {
            new AVRTimer(this.cpu, config); // the Arduino core counts milliseconds with one
        }
        this.cpu.writeHooks[SPH] = () => {
            this.settled = false;
        };
        this.cpu.writeHooks[SPL] = () => {
            this.settled = true;
        };
    }

    step() {
        super.step();
        const sp = this.cpu.SP;
        if (sp < this.stack && this.settled) {
            this.stack = sp;
            if (sp + 1 < this.floor) {
                const bounds = `${hex(sp)} is below the end of .bss at ${hex(this.floor)}`;
                throw new Error(`stack pointer ${bounds}`);
            }
        }
    }

    get isBusy() {
        const { line, cpu } = this;
        return line.sending.length + line.waiting.length > 0 || !(cpu.data[UCSR0A] & SENT);
    }
}

/** The board: an Uno that can be reset, and the counts since its start. */
class Board {
    counted = { cycles: 0, marked_cycles: 0, marked_spans: 0, overruns: 0 };
    stack = RAMEND;
    faults = [];

    constructor(program, floor) {
        this.make = () => new WatchedUno(program, floor);
        this.uno = this.make();
    }

    reset() {
        this.counted = this.count();
        this.stack = Math.min(this.stack, this.uno.stack);
        this.crashed = false;
        this.uno = this.make();
    }

    /** Run for some cycles of emulated time, or until a fault. */
    run(cycles) {
        const { uno } = this;
        const end = uno.cpu.cycles + cycles;
        let pc = 0;
        try {
            while (uno.cpu.cycles < end) {
                pc = uno.cpu.pc;
                uno.step();
                uno.carry();
            }
        } catch (error) {
            this.crashed = true;
            if (this.faults.length < MOST_FAULTS) {
                this.faults.push({ pc: 2 * pc, what: error.message });
            }
        }
    }

    count() {
        const { cpu, marked, line } = this.uno;
        return {
            cycles: this.counted.cycles + cpu.cycles,
            marked_cycles: this.counted.marked_cycles + marked.cycles,
            marked_spans: this.counted.marked_spans + marked.spans,
            overruns: this.counted.overruns + line.lost,
        };
    }

    get state() {
        return this.crashed ? "crashed" : this.uno.asleep ? "sleeping" : "running";
    }

    stats() {
        const stack_bytes = RAMEND - Math.min(this.stack, this.uno.stack);
        const { state, faults } = this;
        return { ...this.count(), stack_bytes, state, faults, reflashed: false };
    }
}

/** Emulated time, paced by the wall clock. */
class Clock {
    constructor(board, { clock, wireSpeed }, flush) {
        Object.assign(this, { board, hz: clock, wireSpeed, flush });
        this.due = performance.now(); // the wall-clock time of the current emulated time
        this.schedule(0);
    }

    /** Continue at once, because there is something to do. */
    wake() {
        if (!this.wireSpeed) {
            clearTimeout(this.timer);
            this.schedule(0);
        }
    }

    schedule(delay) {
        clearImmediate(this.next);
        if (delay > 0) {
            this.timer = setTimeout(() => this.slice(), delay);
        } else {
            this.next = setImmediate(() => this.slice());
        }
    }

    slice() {
        const { board, hz } = this;
        if (board.crashed) {
            this.schedule(FORGIVEN_MS); // only a reset changes anything
            return;
        }
        const began = board.uno.cpu.cycles;
        board.run(hz * SLICE_S);
        this.flush();
        this.due += (1000 * (board.uno.cpu.cycles - began)) / hz;
        const now = performance.now();
        const waits = board.uno.asleep && !board.uno.isBusy;
        if (!(waits || this.wireSpeed) || this.due < now - FORGIVEN_MS) {
            this.due = now;
        }
        this.schedule(this.due - now);
    }
}

/** The serial line as a TCP server for one client at a time; connecting resets the board. */
class Line {
    client = null;

    constructor(board) {
        this.board = board;
        this.server = createServer({ noDelay: true }, (client) => this.accept(client));
    }

    open(port, opened) {
        this.server.on("error", (error) => die(EXIT_USAGE, error.code ?? error.message));
        this.server.listen(port, "127.0.0.1", () => opened(this.server.address().port));
    }

    /**
     * A client that disconnects and reconnects must not be refused, so its end is handled first. Timers
     * run before events of sockets, and immediates after them.
     */
    accept(client) {
        client.on("error", () => client.destroy());
        const decide = () => (this.client ? client.destroy() : this.connect(client));
        setTimeout(() => setImmediate(decide), this.client ? 20 : 0);
    }

    connect(client) {
        if (client.destroyed) {
            return; // it has closed in the meantime and will not emit "close" again
        }
        this.client = client;
        this.board.reset();
        client.on("data", (bytes) => {
            this.board.uno.line.sending.push(...bytes);
            if (this.board.uno.line.sending.length > MOST_SENDING) {
                client.pause();
            }
            this.clock.wake();
        });
        const leave = () => {
            client.destroy();
            this.client = this.client === client ? null : this.client;
        };
        client.on("end", leave);
        client.on("close", leave);
        this.clock.wake();
    }

    flush() {
        const { client } = this;
        const { received, sending } = this.board.uno.line;
        const bytes = received.splice(0);
        if (client === null) {
            return;
        }
        if (bytes.length > 0) {
            client.write(Uint8Array.from(bytes));
        }
        if (client.writableLength > MOST_UNREAD) {
            client.destroy(); // it does not read anything
        } else if (client.isPaused() && sending.length < MOST_SENDING) {
            client.resume();
        }
    }
}

const hex = (address) => `0x${address.toString(16).padStart(4, "0")}`;

function die(status, why) {
    stderr.write(`${why}\n`, () => exit(status));
}

const answer = (record) => stdout.write(`${JSON.stringify(record)}\n`);

/** Return the values of `--name value`, by name. */
function optionsOf(words) {
    const said = new Map();
    for (let i = 0; i < words.length; i++) {
        said.set(words[i], words[i + 1]?.startsWith("--") === false ? words[++i] : "");
    }
    return said;
}

function start(said, program) {
    const board = new Board(program, Number(said.get("--bss-end") ?? 0));
    const line = new Line(board);
    const clock = Number(said.get("--clock") ?? CLOCK_HZ);
    const wireSpeed = said.has("--wire-speed");
    line.open(Number(said.get("--port") ?? 0), (port) => {
        line.clock = new Clock(board, { clock, wireSpeed }, () => line.flush());
        answer({ url: `socket://127.0.0.1:${port}` });
    });
    return (command) => {
        if (command === "quit") {
            exit();
        }
        if (command === "reset") {
            board.reset();
        }
        answer(board.stats());
    };
}

const said = optionsOf(argv.slice(2));
const imageBytes = Number(said.get("--image-bytes"));
let unread = Buffer.alloc(0);
let execute = null;

process.on("SIGINT", () => {}); // Ctrl-C is for the parent, which then closes stdin
stdin.on("end", () => exit());
stdin.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    if (execute === null && unread.length >= imageBytes) {
        execute = start(said, unread.subarray(0, imageBytes));
        unread = unread.subarray(imageBytes);
    }
    for (let end; execute !== null && (end = unread.indexOf("\n")) >= 0; ) {
        execute(unread.subarray(0, end).toString());
        unread = unread.subarray(end + 1);
    }
});
