/* A classifier on the emulated Uno, which gets one request at a time over its serial line. */
import {
    AVRTimer,
    AVRUSART,
    CPU,
    avrInstruction,
    timer1Config,
    usart0Config,
} from "avr8js";

import { helloRequest, readHello, readScores, scoresRequest } from "./protocol.js";
import { Uno, flashWith } from "./uno.js";

const avr8js = { AVRTimer, AVRUSART, CPU, avrInstruction, timer1Config, usart0Config };

export class Device {
    constructor(uno) {
        this.uno = uno;
        this.sequence = 0;
    }

    /**
     * Start the firmware and check its identity.
     *
     * @param {Uint8Array} program
     * @param {{hash: string, features: number}} model The model that the firmware must report.
     */
    static async start(program, model) {
        const device = new Device(new Uno(avr8js, flashWith(program)));
        const said = readHello(await run(device.uno.ask(helloRequest(0))), 0);
        if (said.modelHash !== model.hash || said.features !== model.features) {
            throw new Error(`the firmware runs the model ${said.modelHash}, not ${model.hash}`);
        }
        return device;
    }

    /** Return label, scores, cycles, and the number of cycles for which pin 8 was high. */
    async classify(features) {
        this.sequence = (this.sequence % 255) + 1;
        this.uno.busy.cycles = 0;
        const reply = await run(this.uno.ask(scoresRequest(this.sequence, features)));
        return { ...readScores(reply, this.sequence), lit: this.uno.busy.cycles };
    }
}

/** Run a generator to its end, with pauses for the page to draw. */
async function run(steps) {
    for (;;) {
        const { done, value } = steps.next();
        if (done) {
            return value;
        }
        await new Promise((resume) => setTimeout(resume));
    }
}
