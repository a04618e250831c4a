/* The board: does it fit, how is the sensor wired, and how the model gets there. */
import { costs, digits } from "/figures.js";
import { bold, button, choice, draw, find, make, meter, number, renew } from "/parts.js";
import { Stage } from "/stage.js";

const LONGEST = 60; // letters of the name of a library

export class Board extends Stage {
    /** The build in use: the folder that was built for the data's sensor, or for points. */
    get built() {
        return this.studio.file(this.studio.state.project);
    }

    /** The step that builds a model: for its sensor, or for points from the computer. */
    step(model, board = this.studio.source.where.board) {
        const { studio } = this;
        const { sensors = [], kind } = studio.data ?? {};
        const areKnown = (names = []) => names.length && names.every((name) => this.#knows(name));
        const several = sensors.length && [sensors, studio.chosen.source?.sensors].find(areKnown);
        if (!several || !(studio.isOfSamples || kind === "points")) {
            return ["build-points", { model, project: "project", board }];
        }
        return ["build", { model, project: "live", sensor: several, ...studio.stages.try.pace, board }];
    }

    /** Whether the package describes a sensor; one of the user's own may be in recordings. */
    #knows(sensor) {
        return this.studio.state.sensors.some(({ name }) => name === sensor);
    }

    async perform(run) {
        const step = this.step(this.studio.state.model);
        if (run !== "upload") {
            return this.run([step]);
        }
        const { port } = this.studio.source.where;
        const missing = !this.studio.state.project && !this.studio.behind.running;
        return this.run([...(missing ? [step] : []), ["upload", { project: step[1].project, port }]]);
    }

    show() {
        super.show();
        const { built } = this;
        find("#limits").parentElement.hidden = !built?.flash_bytes;
        if (built?.flash_bytes) {
            this.#limits(built);
        }
        this.#askWires(built);
        this.#uses(built);
    }

    #limits(built) {
        const { flash, SRAM, time } = costs(built);
        const row = (name, one, words) => {
            const bar = one.limit ? meter(Math.max(one.used / one.limit, 0.01)) : null;
            return make("div", {}, make("dt", {}, name), make("dd", {}, bold(digits(one)), ` ${one.of || one.unit}`), bar, make("dd", {}, words));
        };
        const left = flash.limit - flash.used;
        find("#limits").replaceChildren(
            row("Flash", flash, left < 0 ? "more than the board has" : `${number(left)} B are left for your own sketch`),
            row("SRAM", SRAM, "with the deepest stack, which was computed"),
            ...(time ? [row("Time", time, "at most, computed from the machine code")] : []),
        );
    }

    // --- the wires of the sensor ---

    async #askWires(built) {
        const sensor = this.studio.data?.sensors?.[0] ?? built?.sensors?.[0];
        const board = built?.board ?? this.studio.source.known.board;
        const asked = JSON.stringify([sensor, board]);
        const place = find("#wires");
        place.hidden = !this.#knows(sensor);
        if (place.hidden || asked === this.wired) {
            return;
        }
        this.wired = asked;
        const found = await this.wire.ask("wires", { sensor, board });
        if (asked !== this.wired) {
            return; // a later answer is on its way
        }
        if (found.error) {
            place.hidden = true;
            return;
        }
        const label = `${found.board ?? "The board"} and ${found.title}: ${found.pins.map(({ from, to }) => `${from} to ${to}`).join(", ")}`;
        place.replaceChildren(wiring(found, label), make("figcaption", {}, found.note || found.pins.map(({ from, to }) => `${from} to ${to}`).join(", ")));
    }

    // --- what to do with it ---

    #uses(built) {
        const { ports = [] } = this.studio.state.source;
        const live = built?.kind === "live";
        const [port] = ports;
        const door = (title, words, ...buttons) => make("li", {}, make("h2", {}, title), make("p", {}, words), make("div", { class: "row" }, ...buttons));
        const upload = port
            ? door("On your board", `${port.what || "A board"} is on ${port.port}. The firmware replaces what is on it.`, button("Upload", () => this.perform("upload"), { disabled: !built, "data-key": "upload" }))
            : door("On your board", `No board is on USB. Connect one, then its firmware is uploaded in a few seconds.`, button("Look again", () => this.studio.renew(), { "data-key": "look" }));
        const run = door(
            "On the emulated board",
            "The same machine code runs here; its sensor plays your samples, and the answers are the board's own.",
            button("Run it", () => this.#emulate(), { disabled: !live, "data-key": "emulate" }),
        );
        const sketch = door(
            "In your own sketch",
            live ? "An Arduino library with a sketch that reads the sensor and prints the class." : "An Arduino library with a sketch that computes the answer.",
            button(`Download ${this.zip}`, () => this.#export(), { disabled: !built || !this.studio.model, "data-key": "zip" }),
        );
        const { boards } = this.studio.state;
        const chosen = boards.find(({ name }) => name === (this.other ?? built?.board ?? "uno"));
        const select = choice("board", boards.map(({ name, title }) => [name, title]), chosen.name, (name) => {
            this.other = name;
            this.#uses(built);
        });
        select.ariaLabel = "Board";
        const press = button(chosen.builds ? "Build" : "Write a library", () => this.#buildFor(chosen), { disabled: !this.studio.model, "data-key": "other" });
        const other = door("Another board", "AVR boards are built and checked on the emulator here; of a 32-bit board, you get a library for the Arduino IDE.", select, press);
        renew(find("#uses"), upload, ...(live ? [run] : []), sketch, other);
    }

    get zip() {
        const name = this.studio.state.folder.replace(/[^a-z\d]+/gi, "_").replace(/^_/, "");
        return `${name.slice(0, LONGEST) || "model"}.zip`;
    }

    #emulate() {
        const { studio } = this;
        studio.go("try");
        studio.stages.try.chosenFrom = "board";
        return studio.stages.try.connect();
    }

    async #export(board) {
        const { built } = this;
        const { sensors, hop, votes, marks = [], kind } = built ?? {};
        const mark = marks.map((percent, at) => `${this.studio.model?.classes[at]}=${percent}`);
        const live = kind === "live" ? { sensor: sensors, hop, votes, mark } : {};
        const steps = [["export", { model: this.studio.state.model, zip: this.zip, ...live, board: board ?? (built?.board === "uno" ? undefined : built?.board) }]];
        this.downloads = true;
        await this.run(steps);
    }

    /** The library was written: have the browser save it. */
    async ended({ action, state }) {
        if (action !== "export" || state !== "done" || !this.downloads) {
            return;
        }
        this.downloads = false;
        const shown = await this.order("show", { name: this.zip });
        if (shown) {
            make("a", { href: shown.address, download: this.zip }).click();
        }
    }

    /** Build for a board; for one without firmware, write a library. */
    async #buildFor({ name, builds }) {
        if (!builds) {
            await this.#export(name);
            return;
        }
        await this.studio.choose({ source: { ...this.studio.chosen.source, board: name } });
        await this.run([this.step(this.studio.state.model, name === "uno" ? undefined : name)]);
    }
}

/** A board and a module side by side, with the wires between them. */
function wiring({ title, pins, board = "Arduino Uno" }, label) {
    const gap = 22;
    const height = 58 + gap * pins.length;
    const box = (x, wide, name) => [draw("rect", { class: "outline", x, y: 24, width: wide, height: height - 34, rx: 8 }), draw("text", { class: "name", x: x + wide / 2, y: 16, "text-anchor": "middle" }, name)];
    const wires = pins.flatMap(({ from, to }, at) => {
        const y = 48 + gap * at;
        return [
            draw("path", { class: `wire-${/gnd/i.test(to) ? "ground" : /v/i.test(to) ? "power" : "signal"} c${at % 12}`, d: `M150 ${y}H250` }),
            draw("circle", { class: "pin2", cx: 150, cy: y, r: 3 }),
            draw("circle", { class: "pin2", cx: 250, cy: y, r: 3 }),
            draw("text", { class: "tag", x: 142, y: y + 4, "text-anchor": "end" }, to),
            draw("text", { class: "tag", x: 258, y: y + 4 }, from),
        ];
    });
    return draw("svg", { viewBox: `0 0 400 ${height}`, role: "img", "aria-label": label }, ...box(20, 130, board), ...box(250, 130, title), ...wires);
}
