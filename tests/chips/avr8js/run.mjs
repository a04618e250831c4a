/*
 * Run a firmware on the emulated Uno of the report's page, whose emulator shares nothing with libsimavr,
 * and talk to it as the host does.
 *
 *     node run.mjs PACKAGES FIRMWARE.hex < frames
 *
 * PACKAGES is a folder with node_modules/. A frame is a line of hexadecimal digits; each is sent at
 * wire speed, and its reply awaited. Then a JSON object is printed: the received bytes that were
 * lost, and the most cycles that interrupts were off once they had been on.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { argv, stdin, stdout } from "node:process";

import { Uno, flashWith } from "../../../protonn_edge/extensions/page/scripts/uno.js";

const [packages, firmware] = argv.slice(2);
const require = createRequire(resolve(packages, "package.json"));

const INTERRUPT_FLAG = 0x80; // in SREG

function programOf(hex) {
    const program = [];
    for (const line of hex.split("\n").filter((text) => text.startsWith(":"))) {
        const record = Buffer.from(line.trim().slice(1), "hex");
        if (record[3] === 0) {
            record.subarray(4, 4 + record[0]).forEach((byte, i) => {
                program[record.readUInt16BE(1) + i] = byte;
            });
        }
    }
    return Uint8Array.from(program, (byte) => byte ?? 0xff);
}

/** An Uno that measures for how long interrupts are off. */
class WatchedUno extends Uno {
    masked = { since: null, longest: 0 };

    step() {
        const { cpu, masked } = this;
        const before = cpu.SREG;
        super.step();
        if (cpu.interruptsEnabled) {
            if (masked.since !== null) {
                masked.longest = Math.max(masked.longest, cpu.cycles - masked.since);
            }
            masked.since = null;
        } else if (before & INTERRUPT_FLAG) {
            masked.since = cpu.cycles;
        }
    }
}

const uno = new WatchedUno(require("avr8js"), flashWith(programOf(readFileSync(firmware, "latin1"))));

for (const text of readFileSync(stdin.fd, "latin1").split("\n").filter(Boolean)) {
    const asking = uno.ask(Buffer.from(text, "hex"));
    while (!asking.next().done) {
        // it runs
    }
}
stdout.write(JSON.stringify({ lost: uno.line.lost, masked: uno.masked.longest }));
