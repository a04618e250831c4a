/* “Try it”: the Uno in the report's page runs the firmware that was measured, on avr8js, and answers over
 * its serial line what it is asked. */
import { Device } from "./device.js";
import { inkOf } from "./drawing.js";
import { Pad } from "./pad.js";
import { Preview } from "./preview.js";
import { ResultView } from "./result.js";
import { Sliders } from "./sliders.js";

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export class TryIt {
    constructor(root, payload, points, selection, tip) {
        this.root = root;
        this.payload = payload;
        this.points = points;
        this.features = points.features;
        this.selection = selection;
        this.result = new ResultView(root, payload);
        this.wanted = null; // what to classify next
        this.busy = false;
        root.hidden = false;
        this.preview = new Preview(this.part("preview"), points, tip);
        this.#listen();
    }

    part(name) {
        return this.root.querySelector(`[data-part="${name}"]`);
    }

    #listen() {
        const { shape, channels, sliders } = this.payload;
        if (shape && shape.rows > 1) {
            this.pad = new Pad(this.part("pad"), (strokes) => this.#drawn(strokes));
            this.part("clear").addEventListener("click", () => this.#clear());
        } else if (channels) {
            this.#nameChannels(channels);
        } else {
            this.part("sent").textContent = ", each feature in its range";
        }
        if (sliders) {
            const onMove = (raw) => this.#classifyOwn(this.features.quantize(raw));
            const alone = this.points.list.length === 0;
            this.sliders = new Sliders(
                this.part("sliders"), this.points.columns, sliders, onMove, alone,
            );
        }
        this.#listPoints();
        this.part("use").addEventListener("click", () => this.#pasted());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
            this.pad?.draw();
            this.preview.show(this.bytes);
        });
    }

    #nameChannels({ names, colours, words }) {
        const sent = this.part("sent");
        sent.append(`: ${words} `);
        names.forEach((name, i) => {
            const swatch = document.createElement("span");
            swatch.className = `swatch ${colours[i]}`;
            sent.append(swatch, `${name} `);
        });
    }

    /* ---- what is classified ---- */

    /** Classify what is none of the test points; a note may say how it was changed. */
    #classifyOwn(bytes, note = "") {
        this.selection.pick(null);
        this.classify(bytes);
        this.part("clamped").textContent = note;
    }

    /** Show features and classify them; of those that arrive while the Uno is at work, only the last. */
    async classify(bytes, point) {
        this.bytes = bytes;
        this.preview.show(bytes);
        this.part("clamped").textContent = "";
        this.wanted = { bytes, point };
        this.forgotten = false;
        if (this.busy) {
            return;
        }
        this.busy = true;
        try {
            this.device ??= await Device.start(bytesOf(this.payload.program), this.payload.model);
            while (this.wanted) {
                const { bytes: features, point: asked } = this.wanted;
                this.wanted = null;
                const answer = await this.device.classify(features);
                if (this.forgotten) {
                    continue;
                }
                this.result.show(answer, asked);
                this.#say("");
            }
        } catch (error) {
            this.device = undefined; // the next one starts again
            this.wanted = null;
            this.#say(`The Uno has stopped: ${error.message}.`);
        } finally {
            this.busy = false;
        }
    }

    /** Show no input and no answer, not even the one that the Uno is working on. */
    #forget() {
        this.bytes = null;
        this.wanted = null;
        this.forgotten = true;
        this.selection.pick(null);
        this.result.clear();
        this.preview.show(null);
        this.part("clamped").textContent = "";
    }

    #say(sentence) {
        this.part("status").textContent = sentence;
    }

    /* ---- drawing ---- */

    #drawn(strokes) {
        if (strokes.length === 0) {
            this.#forget();
            return;
        }
        const [paper, ink] = this.payload.levels.ink;
        const raw = inkOf(strokes, this.payload.shape).map((level) => paper + level * (ink - paper));
        this.#classifyOwn(this.features.quantize(raw));
    }

    #clear() {
        this.pad.clear();
        this.#drawn([]);
    }

    /* ---- test points ---- */

    #listPoints() {
        const { list } = this.points;
        const choice = this.part("points");
        list.forEach((_, i) => {
            const option = choice.appendChild(document.createElement("option"));
            option.value = i;
            option.textContent = this.points.words(i);
        });
        choice.addEventListener("change", () => this.selection.pick(Number(choice.value)));
        this.part("next").addEventListener("click", () => {
            this.selection.pick(((this.selection.point ?? -1) + 1) % list.length);
        });
        this.selection.addEventListener("point", () => this.#pick());
        this.part("picker").hidden = list.length === 0;
        if (list.length < this.points.all) {
            const all = this.points.all.toLocaleString("en");
            this.part("some").textContent = `The list has ${list.length} of ${all} points.`;
        }
        this.result.clear();
        this.#pick();
    }

    #pick() {
        const { point } = this.selection;
        this.part("points").value = point ?? "";
        if (point === null) {
            return;
        }
        const bytes = this.points.bytes(point);
        this.pad?.clear();
        this.sliders?.move(this.features.restore(bytes));
        this.classify(bytes, this.points.list[point]);
    }

    /* ---- numbers ---- */

    #pasted() {
        try {
            const { columns } = this.points;
            const raw = columns.read(this.part("row").value);
            this.pad?.clear();
            this.sliders?.move(raw);
            this.#classifyOwn(this.features.quantize(raw), columns.clamped(raw));
        } catch (error) {
            this.pad?.clear();
            this.#forget();
            this.#say(`${error.message}.`);
        }
    }
}
