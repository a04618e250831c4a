/* The live curve of all channels, and below it what is answered, on the same axis of time. */
import { COLOURS, find, make, rangeOf, STILL } from "/parts.js";

const MOST_POINTS = 4000;
const STEP_MS = 500; // between two drawings where motion is reduced
const WIDE_ENOUGH = 5; // per cent of the ribbon, for a word

export class Scope {
    /** @param {HTMLElement} place Contains the canvas; the key of the channels stands below it. */
    constructor(place, { seconds = 6, above = 0.05 } = {}) {
        Object.assign(this, { place, seconds, above, rows: [], channels: [], lanes: [], drawn: 0, at: 0 });
        this.canvas = find("canvas", place);
        this.key = place.parentElement.querySelector(".key");
        new ResizeObserver(() => this.#soon()).observe(this.canvas);
    }

    /** Begin with a stream: `units` has, for each channel, the first channel with the same unit. */
    begin({ channels, rate, units }) {
        const same = this.rate === rate && `${this.channels}` === `${channels}`;
        if (same) {
            return;
        }
        Object.assign(this, { channels, rate, rows: [], at: 0 });
        const kinds = [...new Set(units ?? channels.map(() => 0))];
        this.lanes = kinds.map((kind) => channels.map((_, at) => at).filter((at) => (units?.[at] ?? 0) === kind));
        this.ranges = kinds.map(() => null);
        this.key?.replaceChildren(
            ...channels.map((name, at) => make("li", {}, make("span", { class: `swatch own c${at % COLOURS}` }), name)),
        );
    }

    /** Add samples, of which the first has the number `first`, and every `step`-th is there. */
    add({ samples, first, n, step }) {
        if (first < this.at || first > this.at + this.rate) {
            this.rows = []; // the board was reset, or samples came while nothing was shown
        }
        samples.forEach((row, at) => this.rows.push([first + at * step, row]));
        this.at = first + n;
        const oldest = this.at - this.seconds * this.rate;
        const old = this.rows.findIndex(([at]) => at >= oldest - step);
        this.rows.splice(0, Math.max(0, old, this.rows.length - MOST_POINTS));
        this.#soon();
    }

    /** Mark a part as it is recorded: [first sample, last sample], or nothing. */
    mark(part) {
        this.band = part;
    }

    /** Where a sample stands, as a share of the width; the newest one is at the right end. */
    placeOf(at) {
        return 1 - (this.at - at) / (this.seconds * this.rate || 1);
    }

    #soon() {
        if (!this.waiting) {
            const wait = STILL.matches ? (then) => setTimeout(then, STEP_MS) : requestAnimationFrame;
            this.waiting = wait(() => {
                this.waiting = null;
                this.#draw();
            });
        }
    }

    #draw() {
        const { canvas } = this;
        const { width, height } = canvas.getBoundingClientRect();
        if (!width || !this.rate) {
            return;
        }
        const scale = devicePixelRatio || 1;
        Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
        const pen = canvas.getContext("2d");
        pen.scale(scale, scale);
        const css = getComputedStyle(canvas);
        const x = (at) => width * this.placeOf(at);
        if (this.band) {
            const [from, to] = this.band.map((at) => Math.max(0, x(at)));
            pen.fillStyle = css.getPropertyValue("--limit");
            pen.globalAlpha = 0.1;
            pen.fillRect(from, 0, to - from, height);
            pen.globalAlpha = 1;
            pen.fillRect(from, 0, 1.5, height);
        }
        const top = this.above * height;
        const tall = (height - top) / this.lanes.length;
        this.lanes.forEach((lane, number) => this.#lane(pen, css, lane, number, x, top + number * tall, tall));
        this.drawn += 1;
        this.after?.();
    }

    /** Draw the channels of one unit, in a range that widens at once and narrows slowly. */
    #lane(pen, css, lane, number, x, top, tall) {
        const [least, most] = rangeOf(this.rows.flatMap(([, row]) => lane.map((channel) => row[channel])));
        if (!isFinite(least)) {
            return;
        }
        const [low0, high0] = this.ranges[number] ?? [least, most];
        const low = Math.min(least, low0 + 0.02 * (least - low0));
        const high = Math.max(most, high0 + 0.02 * (most - high0));
        this.ranges[number] = [low, high];
        const y = (value) => top + tall * (0.94 - (0.88 * (value - low)) / (high - low || 1));
        pen.lineWidth = 1;
        pen.strokeStyle = css.getPropertyValue("--rule");
        const width = this.canvas.clientWidth;
        if (low <= 0 && high >= 0) {
            pen.beginPath();
            pen.moveTo(0, y(0));
            pen.lineTo(width, y(0));
            pen.stroke();
            pen.fillStyle = css.getPropertyValue("--muted");
            pen.font = `12px ${css.fontFamily}`;
            pen.fillText("0", 8, y(0) - 4);
        }
        pen.lineWidth = 1.7;
        pen.lineJoin = "round";
        for (const channel of lane) {
            pen.strokeStyle = colour(channel);
            pen.beginPath();
            this.rows.forEach(([at, row]) => pen.lineTo(x(at), y(row[channel])));
            pen.stroke();
        }
    }
}

const probes = [];
/** The colour of a channel in the scheme that the page has now. */
function colour(channel) {
    const at = channel % COLOURS;
    if (!probes[at]) {
        probes[at] = make("i", { class: `probe c${at}`, hidden: true });
        document.body.append(probes[at]);
    }
    return getComputedStyle(probes[at]).getPropertyValue("--c");
}

/** The cells of the answers to the windows of n samples, of which a part [first, end] is shown. */
export const cellsOf = (answers, n, [first, end] = [0, n]) =>
    answers.map(({ label, sure, first: begin }, at) => {
        const share = (sample) => (sample - first) / (end - first || 1);
        return { label, sure: (sure ?? 60) / 100, from: share(at ? begin : 0), to: share(answers[at + 1]?.first ?? n) };
    });

/** Show answers as cells, and a word for each run of equal ones; returns the runs.
 *
 * An answer has `from` and `to` in shares of the width, `label`, `sure` from 0 to 1, and `wrong`. */
export function ribbon(place, answers, label = "Answers") {
    const share = (value) => `${100 * Math.min(1, Math.max(0, value))}%`;
    const runs = [];
    const cells = answers.map(({ from, to, label: said, sure, wrong }) => {
        const last = runs.at(-1);
        if (last?.said === said && from - last.to < 0.02) {
            last.to = to;
        } else {
            runs.push({ said, from, to });
        }
        const clear = `${Math.round(12 + 40 * Math.min(1, Math.max(0, sure ?? 0.5)))}%`;
        return make("i", { class: wrong ? "wrong" : "", style: { left: share(from), width: share(to - from), "--sure": clear } });
    });
    const words = runs.map(({ said, from, to }, at) => {
        const wide = 100 * (Math.min(1, to) - Math.max(0, from));
        const style = { left: share(from), width: `${Math.max(0, wide)}%` };
        return make("span", { class: at === runs.length - 1 ? "last" : "", style }, wide > WIDE_ENOUGH ? said : "");
    });
    place.replaceChildren(...cells, ...words);
    place.setAttribute("aria-label", runs.length ? `${label}: ${runs.slice(-5).map(({ said }) => said).join(", ")}` : "No answer yet");
    return runs;
}
