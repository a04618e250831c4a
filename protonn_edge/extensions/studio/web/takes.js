/* The takes of a recording: curves to cut, classes to change. All edits are commands, and can be undone. */
import { curve, find, make, offer, veils } from "/parts.js";

const MOST_COLUMNS = 4000; // of pixels

export class Takes {
    constructor(wire) {
        this.wire = wire;
        this.list = find("#list");
        this.open = new Set();
        this.select = find("#recording");
        this.undo = find("#undo");
        this.labels = [];
        this.select.addEventListener("change", () => this.show());
        this.undo.addEventListener("click", () => wire.run([["undo", { recording: this.select.value }]]));
    }

    offer(files) {
        offer(this.select, files, "none yet");
    }

    async show() {
        const name = this.select.value;
        const shown = name ? await this.wire.ask("takes", { recording: name }, true) : null;
        if (name && !shown) {
            return;
        }
        if (shown?.version === this.version) {
            return;
        }
        const takes = shown?.takes ?? [];
        this.version = shown?.version;
        this.labels = [...new Set(takes.map((take) => take.label))];
        find("#next").textContent = shown?.next ?? "Record three takes of a first class, or drop a file on this page.";
        const undoing = document.activeElement === this.undo;
        this.undo.disabled = !shown?.undo.length;
        if (undoing && this.undo.disabled) {
            this.select.focus();
        }
        this.undo.textContent = shown?.undo.length ? `Undo: ${shown.undo[0]}` : "Undo";
        const counted = this.labels.map((one) => `${one} ${takes.filter(({ label }) => label === one).length}`);
        find("#counts").textContent = counted.length ? `Takes of each class: ${counted.join(", ")}` : "";
        const focused = document.activeElement?.dataset?.key;
        this.list.replaceChildren(...takes.map((take, at) => new TakeCard(this, take, at + 1, shown).element));
        // The place stays where the keys were, even if its take is gone.
        const [kind, at] = focused?.split(" ") ?? [];
        const places = [focused, `summary ${at}`, `summary ${at - 1}`];
        const again = kind && places.map((key) => find(`[data-key="${key}"]:enabled, summary[data-key="${key}"]`, this.list)).find(Boolean);
        (again ?? (kind ? this.select : null))?.focus();
        this.wire.dispatchEvent(new CustomEvent("labels", { detail: this.labels }));
    }

    edit(action, number, more = {}) {
        const fields = { recording: this.select.value, take: number, ...more };
        return this.wire.run([[action, fields]], { recording: this.select.value, version: this.version });
    }

    /** Ask for a part of a take, as the least and the largest value of each column of pixels. */
    part(number, part, columns) {
        const fields = { recording: this.select.value, version: this.version, take: number, part, columns };
        return this.wire.ask("part", fields, true);
    }
}

class TakeCard {
    constructor(takes, take, number, { scales, rate }) {
        Object.assign(this, { takes, take, number, scales, shown: [0, take.n] });
        this.step = rate ? 1 / rate : 1;
        this.unit = rate ? "s" : "samples";
        const length = `${(take.n * this.step).toFixed(2)} ${this.unit}`;
        const words = [take.label, take.session, length].filter(Boolean).join(" · ");
        const key = (kind) => ({ "data-key": `${kind} ${number}` });
        this.picture = curve(take.curves, scales);
        this.veils = veils();
        this.picture.append(...this.veils.parts);
        this.said = make("output");
        this.begin = this.#slider("Begin of the selection", 0, key("begin"));
        this.end = this.#slider("End of the selection", take.n, key("end"));
        const press = (action, text, fields = () => ({})) =>
            make("button", { type: "button", ...key(action), click: () => this.#press(action, fields()) }, text);
        const part = () => ({ part: `${this.begin.value}:${this.end.value}` });
        this.cuts = [press("keep", "Keep the selection", part), press("cut", "Remove the selection", part)];
        const zoom = (kind, text, places) =>
            make("button", { type: "button", ...key(kind), click: () => this.#look(...places()) }, text);
        this.zoomIn = zoom("in", "Zoom in", () => this.#selection);
        this.zoomOut = zoom("out", "Zoom out", () => [0, take.n]);
        const input = (name, value, label) =>
            make("input", { value, "aria-label": `${label} of take ${number}`, name, autocomplete: "off", ...key(name) });
        this.label = input("label", take.label, "Class");
        this.session = input("session", take.session, "Session");
        const renamed = () => ({
            label: this.label.value,
            ...(this.session.value !== take.session && { session: this.session.value }),
        });
        const editor = make(
            "div",
            { class: "editor" },
            make("label", {}, "Begin", this.begin),
            make("label", {}, "End", this.end),
            this.said,
            make("p", { class: "actions" }, ...this.cuts, this.zoomIn, this.zoomOut, press("delete", "Delete the take")),
            make("p", { class: "actions" }, this.label, this.session, press("rename", "Rename", renamed)),
        );
        const details = make(
            "details",
            { toggle: () => this.#toggle(details.open), open: takes.open.has(number) },
            make("summary", key("summary"), make("span", {}, `${number}. ${words}`)),
            editor,
        );
        this.element = make("li", {}, this.picture, details);
        this.#drag();
        this.#mark();
    }

    #toggle(open) {
        this.takes.open[open ? "add" : "delete"](this.number);
        if (open && this.take.curves[0]?.length < this.take.n) {
            this.#look(...this.shown);
        }
    }

    /** Show a part of the take, in as many columns as the curve is wide now. */
    async #look(begin, end) {
        const focused = document.activeElement;
        const columns = Math.min(MOST_COLUMNS, Math.round(this.picture.clientWidth * devicePixelRatio));
        const found = await this.takes.part(this.number, `${begin}:${end}`, columns);
        if (!found) {
            return;
        }
        this.picture.replaceChildren(...curve(found.curves, this.scales).children, ...this.veils.parts);
        this.shown = [begin, end];
        for (const slider of [this.begin, this.end]) {
            Object.assign(slider, { min: begin, max: end });
        }
        this.#mark();
        if (focused.disabled) {
            this.begin.focus(); // keys go on from here
        }
    }

    get #selection() {
        return [+this.begin.value, +this.end.value];
    }

    #press(action, fields) {
        this.takes.edit(action, this.number, fields);
    }

    #slider(label, value, key) {
        const attributes = { type: "range", min: 0, max: this.take.n, value, input: () => this.#mark(), ...key };
        return make("input", { ...attributes, "aria-label": `${label} of take ${this.number}` });
    }

    #mark() {
        const [begin, end] = this.#selection;
        const [first, last] = this.shown;
        const n = this.take.n;
        const some = begin < end && end - begin < n;
        const share = (at) => (at - first) / (last - first || 1);
        this.veils.show(some ? share(begin) : 0, some ? share(end) : 1);
        this.cuts.forEach((one) => (one.disabled = !some));
        this.zoomIn.disabled = begin >= end || end - begin >= last - first;
        this.zoomOut.disabled = last - first >= n;
        const [a, b] = [begin, end].map((one) => `${(one * this.step).toFixed(2)} ${this.unit}`);
        this.begin.setAttribute("aria-valuetext", a);
        this.end.setAttribute("aria-valuetext", b);
        this.said.textContent = some ? `${a} to ${b} of ${n.toLocaleString("en")} samples` : "nothing is selected";
    }

    /** Select a part of the curve by dragging over it. */
    #drag() {
        const at = ({ clientX }) => {
            const { left, width } = this.picture.getBoundingClientRect();
            const [begin, end] = this.shown;
            return begin + Math.round((end - begin) * Math.min(1, Math.max(0, (clientX - left) / width)));
        };
        let from = null;
        this.picture.addEventListener("pointerdown", (event) => {
            this.picture.setPointerCapture(event.pointerId);
            from = at(event);
        });
        this.picture.addEventListener("pointermove", (event) => {
            if (from !== null && at(event) !== from) {
                [this.begin.value, this.end.value] = [from, at(event)].sort((a, b) => a - b);
                this.#mark();
            }
        });
        for (const end of ["pointerup", "pointercancel"]) {
            this.picture.addEventListener(end, () => {
                from = null;
                find("details", this.element).open = true; // which may widen the curve
            });
        }
    }
}
