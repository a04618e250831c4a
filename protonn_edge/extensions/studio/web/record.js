/* The board whose samples are recorded: its logger, the live curve, and takes with a countdown. */
import { ActionForm } from "/forms.js";
import { fieldsOf, find, make, offer, rangeOf } from "/parts.js";

const SHOWN_S = 5;
const MOST_POINTS = 4000;

export class Recording {
    constructor(wire) {
        this.wire = wire;
        this.labels = [];
        this.curve = new LiveCurve(find("#samples"));
        this.board = new ActionForm(find("#logger"), wire, () => [["logger", this.#logger()]]);
        this.take = new ActionForm(find("#take"), wire, () => [["record", { ...this.#take(), ...this.source() }]]);
        const source = find("[name=source]", this.board.form);
        source.addEventListener("input", () => this.#sources(source.value));
        this.#sources(source.value);
        this.board.form.addEventListener("input", () => this.take.renew());
        this.board.press("upload", () => wire.run([["upload-logger", { port: fieldsOf(this.board.form).port }]]));
        this.board.press("connect", () => this.connect("logger"));
        this.board.press("disconnect", () => wire.order("disconnect"));
        this.take.press("end", () => wire.order("order", { what: "end" }));
        this.take.press("discard", () => wire.order("order", { what: "discard" }));
        const label = find("[name=label]", this.take.form);
        label.addEventListener("input", () => this.#classes());
        label.addEventListener("keydown", ({ key }) => key === "Enter" && label.value.trim() && this.begin(label.value.trim()));
        document.addEventListener("keydown", (event) => this.#key(event));
        wire.on("samples", (message) => this.#hear(message));
        wire.on("stream", ({ stream }) => this.#state(stream));
        wire.on("take", ({ take }) => this.#count(take));
        wire.on("labels", (labels) => this.#known(labels));
    }

    offer(state) {
        offer(find("[name=board]", this.board.form), state.boards);
        this.boards ??= find("[name=board]", this.board.form).value = "uno";
        const kinds = ["recording", "table", "sound"];
        const files = state.files.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
        offer(find("[name=file]", this.board.form), files, "drop a file on this page");
        if (state.stream.kind) {
            this.#state(state.stream);
        }
        this.board.renew();
        this.#classes();
    }

    /** The fields by which an action finds the board. */
    source() {
        const { sensor, file, replayed, port, board, source } = fieldsOf(this.board.form);
        const played = `${sensor}=${file}${replayed ? `,rate=${replayed}` : ""}`;
        const where = source === "usb" ? { port } : { played: file ? [played] : [], emulated: "yes" };
        return { ...where, board: board === "uno" ? undefined : board };
    }

    get sensor() {
        return fieldsOf(this.board.form).sensor;
    }

    connect(kind, more = {}) {
        return this.wire.order("connect", { kind, ...this.source(), ...more });
    }

    #logger() {
        const { sensor, rate, board } = fieldsOf(this.board.form);
        return { sensor: sensor?.split(/[ ,]+/).filter(Boolean), rate, board: board === "uno" ? undefined : board };
    }

    #take() {
        const { label, session, seconds, pause } = fieldsOf(this.take.form);
        return { label: label ?? this.labels[0], session, seconds, pause, takes: 1 };
    }

    #sources(source) {
        for (const kind of ["emulated", "usb"]) {
            document.querySelectorAll(`.${kind}`).forEach((one) => (one.hidden = kind !== source));
        }
    }

    #known(labels) {
        this.labels = labels;
        this.#classes();
    }

    #classes() {
        const fresh = find("[name=label]", this.take.form).value.trim();
        this.shown = [...new Set([...this.labels, ...(fresh ? [fresh] : [])])].slice(0, 9);
        find("#classes").replaceChildren(
            ...this.shown.map((label, at) =>
                make("button", { type: "button", click: () => this.begin(label) }, make("kbd", {}, `${at + 1}`), ` ${label}`),
            ),
        );
        this.take.renew();
    }

    begin(label) {
        const { session, seconds, pause } = fieldsOf(this.take.form);
        return this.wire.order("order", { what: "begin", label, session, seconds, pause });
    }

    #key(event) {
        const busy = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
        if (busy || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        const label = this.shown?.[+event.key - 1];
        if (label) {
            this.begin(label);
        } else if (event.key === "e" || event.key === "x") {
            this.wire.order("order", { what: event.key === "e" ? "end" : "discard" });
        }
    }

    #state(stream) {
        const played = stream.played?.[0];
        find("#stream").textContent = stream.text + (stream.running || !stream.channels ? "" : " (not connected)");
        if (stream.running && stream.rate && stream.kind === "logger") {
            this.curve.begin(stream, played?.[1]);
        } else if (!stream.running || stream.kind !== "logger") {
            this.curve.end();
        }
    }

    #hear(message) {
        this.curve.add(message);
        const { lost, damaged, resets } = message;
        const troubles = [`${lost} samples lost`, `${damaged} frames damaged`, `${resets} resets`];
        find("#losses").textContent = [...troubles, this.curve.place].filter(Boolean).join(", ");
    }

    #count(take) {
        const seconds = Math.ceil(take?.countdown ?? 0);
        const kept = take && Math.floor(take.kept / (this.curve.rate || 1));
        const words = !take ? "" : seconds ? `${take.label} in ${seconds} s` : `recording ${take.label}: ${kept} s`;
        const said = find("#countdown");
        if (said.textContent !== words) {
            said.textContent = words;
        }
    }
}

/** The latest seconds of all channels, drawn when samples have arrived. */
class LiveCurve {
    constructor(canvas) {
        this.canvas = canvas;
        this.drawn = 0;
        this.heard = 0;
        this.end();
    }

    /** @param {number[]} units Of each channel, the first channel with the same unit. */
    begin({ channels, rate, units }, playedS) {
        Object.assign(this, { channels, rate, units, playedS });
        this.canvas.hidden = false;
        const swatch = (at) => make("span", { class: `swatch own c${at}` });
        find("#channels").replaceChildren(...channels.map((name, at) => make("li", {}, swatch(at), name)));
    }

    end() {
        this.canvas.hidden = true;
        this.rows = [];
        this.place = "";
        find("#channels").replaceChildren();
        find("#losses").textContent = "";
    }

    add({ samples, first, n, step }) {
        this.heard += n;
        this.rows.push(...samples);
        this.step = step;
        const most = Math.min(MOST_POINTS, Math.ceil((SHOWN_S * this.rate) / step));
        this.rows.splice(0, this.rows.length - most);
        this.most = most;
        const seconds = (first + n) / this.rate;
        this.place = this.playedS
            ? `the sensor replays second ${(seconds % this.playedS).toFixed(1)} of ${this.playedS.toFixed(1)}`
            : "";
        this.waiting ??= requestAnimationFrame(() => this.#draw());
    }

    #draw() {
        this.waiting = null;
        if (!this.rate || this.canvas.hidden) {
            return;
        }
        const { canvas, rows } = this;
        const scale = devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale].map(Math.round);
        if (canvas.width !== width || canvas.height !== height) {
            Object.assign(canvas, { width, height });
        }
        const pen = canvas.getContext("2d");
        pen.clearRect(0, 0, width, height);
        pen.lineWidth = 1.5 * scale;
        const own = this.channels.map((_, channel) => rangeOf(rows.map((row) => row[channel])));
        this.channels.forEach((_, channel) => {
            const alike = own.filter((_, other) => this.units[other] === this.units[channel]);
            const [low, high] = rangeOf(alike.flat());
            const swatch = find("#channels").children[channel]?.firstChild;
            pen.strokeStyle = swatch ? getComputedStyle(swatch).backgroundColor : "gray";
            pen.beginPath();
            rows.forEach((row, at) =>
                pen.lineTo((width * at) / this.most, height * (0.95 - (0.9 * (row[channel] - low)) / (high - low || 1))),
            );
            pen.stroke();
        });
        this.drawn += 1;
    }
}
