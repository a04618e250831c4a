/* The start, while the folder has nothing: sample data, a board, or a file. The curve is an example. */
import { find, make, STILL } from "/parts.js";
import { ribbon, Scope, WITH_WORDS } from "/scope.js";
import { Stage } from "/stage.js";

const RATE = 50;
const COURSE = [["still", 1.6], ["swing", 2.9], ["still", 0.8], ["knock", 2.7]];
const PERIOD = COURSE.reduce((sum, [, seconds]) => sum + seconds, 0);
const KNOCK = [0, 620, -330, 190, -90, 60, -20];

export class Start extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.scope = new Scope(find("#demo"), { seconds: PERIOD, ...WITH_WORDS });
        find("#start-files").addEventListener("click", () => find("#files").click());
        find("#start-connect").addEventListener("click", () => this.#connect());
    }

    show() {
        const [port] = this.studio.state.source.ports ?? [];
        find("#found").textContent = port ? `${port.what || "A board"} found on ${port.port}.` : "None is connected now.";
        this.showActions();
    }

    actions() {
        const { start } = this.studio.state;
        const text = start ? "Start with the sample" : "Go on with your data";
        const press = () => (start ? this.perform() : this.studio.go("data"));
        return [make("button", { type: "button", class: "primary", click: press, "data-key": "primary" }, text)];
    }

    async perform() {
        if (await this.order("sample")) {
            await this.studio.renew();
            this.studio.go("data");
        }
    }

    async #connect() {
        this.fail("");
        const { ports } = this.studio.state.source;
        if (ports?.length === 1) {
            this.studio.go("data");
            await this.studio.stages.data.connect();
        } else {
            this.studio.source.open();
        }
    }

    enter() {
        this.from = performance.now() / 1000;
        this.scope.begin({ channels: ["x", "y", "z"], rate: RATE });
        this.#draw(PERIOD);
        if (!STILL.matches) {
            this.timer = setInterval(() => this.#draw(PERIOD + performance.now() / 1000 - this.from), 50);
        }
    }

    leave() {
        clearInterval(this.timer);
    }

    /** Draw the example as it would be seen at a time, with what a model says below. */
    #draw(now) {
        const first = Math.floor((now - PERIOD) * RATE);
        const samples = Array.from({ length: Math.round(PERIOD * RATE) }, (_, at) => flowing(first + at));
        Object.assign(this.scope, { rows: [], at: first });
        this.scope.add({ samples, first, n: samples.length, step: 1 });
        const hop = 0.5;
        const cells = [];
        for (let at = Math.floor((now - PERIOD) / hop) * hop; at < now; at += hop) {
            const [label, later] = [motionAt(at + 0.2), motionAt(at + 0.45)];
            const from = (at - now + PERIOD) / PERIOD;
            cells.push({ from, to: from + hop / PERIOD, label, sure: label === later ? 0.9 : 0.3 });
        }
        ribbon(find("#demo-ribbon"), cells);
    }
}

function motionAt(seconds) {
    let rest = ((seconds % PERIOD) + PERIOD) % PERIOD;
    for (const [motion, length] of COURSE) {
        if (rest < length) {
            return motion;
        }
        rest -= length;
    }
    return "still";
}

function noise(seed) {
    const x = Math.sin(seed * 127.1 + 11.7) * 43758.5453;
    return 22 * (x - Math.floor(x) - 0.5);
}

function sample(motion, at) {
    const t = at / RATE;
    const rest = [noise(3.1 * at + 17), noise(3.1 * at + 34), noise(3.1 * at + 51) + 256];
    const round = Math.sin((t * 2 * Math.PI) / 0.95);
    const hit = KNOCK[((at % 27) + 27) % 27] ?? 0;
    const added = {
        still: [0, 0, 0],
        swing: [210 * round, 60 * Math.cos((t * 2 * Math.PI) / 0.475) - 20, -70 * round * round],
        knock: [0.22 * hit, -0.1 * hit, hit],
    }[motion];
    return rest.map((value, channel) => value + added[channel]);
}

/** A sample of a course of motions, which flow into each other. */
function flowing(at) {
    const near = [-0.2, -0.1, 0, 0.1, 0.2].map((later) => sample(motionAt(at / RATE + later), at));
    return near[0].map((_, channel) => near.reduce((sum, one) => sum + one[channel], 0) / near.length);
}
