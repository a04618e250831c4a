/* The start, while the folder has nothing: sample data, a board, or a file. The curve is an example. */
import { all, find, make } from "/parts.js";
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
        const [title, words] = all(".doors li:first-child :is(h2, p)", this.section);
        this.sample ??= [title.textContent, words.textContent];
        const { start } = this.studio.state;
        const shown = start ? this.sample : ["Go on", "This folder has data already. Sample data begin in an empty folder."];
        [title.textContent, words.textContent] = shown;
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

    /** Draw the example, with the answers of a model below. */
    enter() {
        const samples = Array.from({ length: Math.round(PERIOD * RATE) }, (_, at) => sample(motionAt(at / RATE), at));
        this.scope.begin({ channels: ["x", "y", "z"], rate: RATE });
        this.scope.rows = [];
        this.scope.add({ samples, first: 0, n: samples.length, step: 1 });
        let from = 0;
        const cells = COURSE.map(([label, seconds]) => ({ label, sure: 0.8, from, to: (from += seconds / PERIOD) }));
        ribbon(find("#demo-ribbon"), cells);
    }
}

function motionAt(seconds) {
    let rest = seconds;
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
    const hit = KNOCK[at % 27] ?? 0;
    const added = {
        still: [0, 0, 0],
        swing: [210 * round, 60 * Math.cos((t * 2 * Math.PI) / 0.475) - 20, -70 * round * round],
        knock: [0.22 * hit, -0.1 * hit, hit],
    }[motion];
    return rest.map((value, channel) => value + added[channel]);
}
