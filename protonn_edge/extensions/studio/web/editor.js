/* The editor of a take, in place: two handles, the model's answer to each window, keep or remove. */
import { bold, button, choice, counted, curve, find, key, labelled, make, number, polylines, renew } from "/parts.js";
import { cellsOf, ribbon } from "/scope.js";

const WIDTH = 1000;
const HEIGHT = 200;
const MOST_COLUMNS = 4000;
const LEAST = 2; // samples of a selection
const OTHER = "+";
const NUDGES = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };

export class Editor {
    constructor(data) {
        this.data = data;
        this.number = 0; // of the take that is edited; 0 is none
    }

    get take() {
        return this.data.takes[this.number - 1];
    }

    get label() {
        return this.take?.label;
    }

    /** Edit a take, with a part of it selected. */
    open(number, part) {
        Object.assign(this, { number, opening: true });
        this.#begin(part);
        this.data.show();
    }

    #begin(part = [0, this.take.n]) {
        Object.assign(this, { part, shown: [0, this.take.n], answers: [] });
        this.#build();
        this.#ask();
    }

    close() {
        const was = this.number;
        if (!was) {
            return false;
        }
        this.number = 0;
        this.data.show();
        find(`[data-key="take ${was}"]`)?.focus();
        return true;
    }

    /** The recording was read again: the take may have changed, or be gone. */
    renewed() {
        if (!this.take) {
            this.number = 0;
        } else {
            this.#begin();
        }
    }

    /** The editor stands in the page again, after its rows were built. */
    placed() {
        if (this.opening && this.number && this.element.isConnected) {
            this.opening = false;
            this.element.scrollIntoView({ block: "center" });
            this.handles[0].focus({ preventScroll: true });
        }
    }

    #build() {
        const { take, data } = this;
        const name = `Take ${this.number} of ${take.label}`;
        const place = data.takes.slice(0, this.number).filter(({ label }) => label === take.label).length;
        this.picture = curve(take.curves, data.recording.scales, { width: WIDTH, height: HEIGHT, label: name });
        this.veils = [make("i", { class: "veil" }), make("i", { class: "veil" })];
        this.handles = ["Begin", "End"].map((words, side) => this.#handle(words, side));
        this.cut = make("div", { class: "cut" }, this.picture, ...this.veils, ...this.handles);
        this.said = make("output", { class: "note" });
        this.ribbon = make("div", { class: "ribbon", role: "img", hidden: true });
        this.verdict = make("span", { class: "note" });
        const part = () => ({ take: this.number, part: this.part.join(":") });
        this.keep = button("Keep the selection", () => this.data.edit("keep", part()), { class: "primary", "data-key": "keep" });
        this.remove = button("Remove it", () => this.data.edit("cut", part()), { "data-key": "cut" });
        this.zoom = button("Zoom in", () => this.#zoom(), { "data-key": "zoom" });
        const step = (by) => () => this.open(this.number + by);
        this.element ??= make("li", { class: "editing" });
        renew(
            this.element,
            make(
                "div",
                { class: "row" },
                make("h2", {}, `${take.label} ${place}`),
                this.said,
                make("span", { class: "end" }),
                button("‹", step(-1), { class: "quiet", "aria-label": "The take before", disabled: this.number === 1, "data-key": "before" }),
                button("›", step(1), { class: "quiet", "aria-label": "The next take", disabled: !data.takes[this.number], "data-key": "next" }),
                button(["Close", key("Esc")], () => this.close(), { class: "quiet", "data-key": "close" }),
            ),
            this.cut,
            this.ribbon,
            make("div", { class: "under" }, this.verdict),
            make(
                "div",
                { class: "row" },
                this.keep,
                this.remove,
                this.zoom,
                make("span", { class: "end" }),
                this.#renamer("Class", "label", data.labels),
                this.#renamer("by", "session", [...new Set(data.takes.map(({ session }) => session).filter(Boolean))]),
                button("Delete the take", () => data.edit("delete", { take: this.number }), { "data-key": "delete" }),
            ),
        );
        this.#drag();
        this.#mark();
    }

    #renamer(words, field, names) {
        const now = this.take[field] ?? "";
        const options = [...new Set([now, ...names])].map((name) => [name, name || "nobody"]);
        const rename = (value) => value && this.data.edit("rename", { take: this.number, label: this.label, [field]: value });
        const typed = make("input", { type: "text", hidden: true, "aria-label": `${words}: another name`, change: () => rename(typed.value.trim()) });
        const select = choice(field, [...options, [OTHER, "another …"]], now, (value) => {
            typed.hidden = value !== OTHER;
            if (value === OTHER) {
                typed.focus();
            } else {
                rename(value);
            }
        });
        return make("span", { class: "row" }, labelled(words, select), typed);
    }

    // --- the selection ---

    #handle(words, side) {
        return button([], () => {}, {
            class: "handle",
            role: "slider",
            "aria-label": words,
            "data-key": words,
            keydown: (event) => {
                const by = NUDGES[event.key];
                if (by) {
                    event.preventDefault();
                    this.#move(side, this.part[side] + by);
                }
            },
        });
    }

    #move(side, to) {
        const [begin, end] = this.part;
        const [first, last] = this.shown;
        this.part[side] = side ? Math.max(begin + LEAST, Math.min(last, to)) : Math.min(end - LEAST, Math.max(first, to));
        this.#mark();
    }

    #mark() {
        const { take, part, shown } = this;
        const rate = this.data.recording.rate || 0;
        const share = (at) => 100 * Math.min(1, Math.max(0, (at - shown[0]) / (shown[1] - shown[0] || 1)));
        const words = (at) => (rate ? `${(at / rate).toFixed(2)} seconds` : `sample ${at}`);
        this.handles.forEach((handle, side) => {
            handle.style.left = `${share(part[side])}%`;
            const range = { "aria-valuemin": 0, "aria-valuemax": take.n, "aria-valuenow": part[side], "aria-valuetext": words(part[side]) };
            Object.entries(range).forEach((one) => handle.setAttribute(...one));
        });
        this.veils[0].style.width = `${share(part[0])}%`;
        Object.assign(this.veils[1].style, { left: `${share(part[1])}%`, width: `${100 - share(part[1])}%` });
        const n = part[1] - part[0];
        const some = n < take.n;
        [this.keep, this.remove].forEach((one) => (one.disabled = !some));
        const zoomed = shown[1] - shown[0] < take.n;
        this.zoom.textContent = zoomed ? "Zoom out" : "Zoom in";
        this.zoom.disabled = !some && !zoomed;
        const at = rate ? `${(part[0] / rate).toFixed(2)} to ${(part[1] / rate).toFixed(2)} s` : `${part[0]} to ${part[1]}`;
        const windows = this.data.studio.stages.train.windowsOf(n);
        this.said.replaceChildren(bold(at), `, ${number(n)} of ${counted(take.n, "sample")}${windows === null ? "" : `: ${counted(windows, "window")}`}`);
        this.#tell();
    }

    #drag() {
        const { cut } = this;
        const at = ({ clientX }) => {
            const { left, width } = cut.getBoundingClientRect();
            const [first, last] = this.shown;
            return first + Math.round(((clientX - left) / width) * (last - first));
        };
        cut.addEventListener("pointerdown", (event) => {
            const held = this.handles.indexOf(event.target);
            const [begin, end] = this.part;
            const side = held >= 0 ? held : Number(Math.abs(at(event) - begin) > Math.abs(at(event) - end));
            cut.setPointerCapture(event.pointerId);
            this.#move(side, at(event));
            const drag = (moved) => this.#move(side, at(moved));
            cut.addEventListener("pointermove", drag);
            for (const ended of ["pointerup", "pointercancel"]) {
                cut.addEventListener(ended, () => cut.removeEventListener("pointermove", drag), { once: true });
            }
            event.preventDefault();
            this.handles[side].focus();
        });
    }

    /** Show the selection alone, or the whole take again. */
    async #zoom() {
        const zoomed = this.shown[1] - this.shown[0] < this.take.n;
        const shown = zoomed ? [0, this.take.n] : [...this.part];
        const columns = Math.min(MOST_COLUMNS, Math.round(this.cut.clientWidth * devicePixelRatio));
        const { name, version, scales } = this.data.recording;
        const { number: take } = this;
        const found = await this.data.studio.ask("part", { recording: name, version, take, part: shown.join(":"), columns });
        if (found?.curves && take === this.number) {
            this.shown = shown;
            this.picture.replaceChildren(...polylines(found.curves, scales, WIDTH, HEIGHT));
            this.#mark();
        }
    }

    // --- the model's answers ---

    async #ask() {
        const { studio, recording } = this.data;
        const { model } = studio;
        const { number: take } = this;
        if (!model?.window) {
            return;
        }
        const found = await studio.ask("answers", { model: model.name, recording: recording.name, version: recording.version, take });
        if (found?.answers && take === this.number) {
            this.answers = found.answers;
            this.#tell();
        }
    }

    #tell() {
        const { answers = [], shown, label } = this;
        this.ribbon.hidden = !answers.length;
        this.verdict.textContent = "";
        if (!answers.length) {
            return;
        }
        const ofClasses = this.data.studio.model?.predicts === "class";
        const last = answers.at(-1);
        const cells = cellsOf(answers, last.first + last.n, shown).map((one) => ({ ...one, wrong: ofClasses && one.label !== label }));
        ribbon(this.ribbon, cells.filter(({ from, to }) => to > 0 && from < 1), "The model says");
        const right = answers.filter((one) => one.label === label).length;
        const verdict = ofClasses ? `: ${right} of ${counted(answers.length, "window")} ${right === 1 ? "is" : "are"} ${label}` : "";
        this.verdict.textContent = `what the model says${verdict}`;
    }
}
