/* The Uno in the report's page: it runs the firmware that was measured, on avr8js, and answers over its
 * serial line what it is asked. All that is known comes from one JSON block in the page. */
import { Device } from "./device.js";
import { inkOf } from "./drawing.js";
import { Features } from "./features.js";
import { Pad } from "./pad.js";
import { Preview } from "./preview.js";
import { ResultView } from "./result.js";

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

class Page {
    constructor(root, payload) {
        this.root = root;
        this.payload = payload;
        this.features = new Features(payload.model);
        this.result = new ResultView(root, payload);
        this.preview = new Preview(this.part("preview"), payload.shape);
        this.points = payload.points;
        this.pointBytes = bytesOf(payload.pointBytes);
        this.wanted = null; // what to classify next
        this.busy = false;
        this.#listen();
        root.hidden = false;
    }

    part(name) {
        return this.root.querySelector(`[data-part="${name}"]`);
    }

    #listen() {
        const { shape, sliders } = this.payload;
        if (shape && shape.rows > 1) {
            this.pad = new Pad(this.part("pad"), (strokes) => this.#drawn(strokes));
            this.part("clear").addEventListener("click", () => this.#clear());
        }
        if (sliders) {
            this.#makeSliders(sliders);
        }
        this.#listPoints();
        this.part("use").addEventListener("click", () => this.#pasted());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
            this.pad?.draw();
            if (this.bytes) {
                this.preview.show(this.#levels(this.bytes));
            }
        });
    }

    /* ---- what is classified ---- */

    /** Show features and classify them; of what comes while the Uno is at work, only the last. */
    async classify(bytes, point) {
        this.bytes = bytes;
        this.preview.show(this.#levels(bytes));
        this.wanted = { bytes, point };
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
                this.result.show(answer, asked);
                this.#say("");
            }
        } catch (error) {
            this.device = undefined; // the next one starts anew
            this.wanted = null;
            this.#say(`The Uno has stopped: ${error.message}.`);
        } finally {
            this.busy = false;
        }
    }

    #say(sentence) {
        this.part("status").textContent = sentence;
    }

    #levels(bytes) {
        const { shown, lower, upper } = this.payload.levels;
        const raw = this.features.restore(bytes);
        if (shown) {
            return raw.map((value) => (value - shown[0]) / (shown[1] - shown[0]));
        }
        const at = (list, i) => list[list.length > 1 ? i : 0];
        return raw.map((value, i) => {
            const extent = at(upper, i) - at(lower, i);
            return extent !== 0 ? Math.min(Math.max((value - at(lower, i)) / extent, 0), 1) : 0.5;
        });
    }

    /* ---- drawing ---- */

    #drawn(strokes) {
        this.part("points").value = "";
        if (strokes.length === 0) {
            this.result.clear();
            this.preview.show(new Float64Array(this.features.count));
            return;
        }
        const [paper, ink] = this.payload.levels.ink;
        const raw = inkOf(strokes, this.payload.shape).map((level) => paper + level * (ink - paper));
        this.classify(this.features.quantize(raw));
    }

    #clear() {
        this.pad.clear();
        this.#drawn([]);
    }

    /* ---- test points ---- */

    #listPoints() {
        const { classes } = this.payload.model;
        const list = this.part("points");
        this.points.forEach((point, i) => {
            const option = list.appendChild(document.createElement("option"));
            const known = point.predicted < classes.length;
            const taken = known ? `, taken for ${classes[point.predicted]}` : ", answered unknown";
            option.value = i;
            option.textContent = `#${point.index} is ${classes[point.label] ?? "unknown"}`;
            option.textContent += point.predicted === point.label ? "" : taken;
        });
        list.addEventListener("change", () => this.#pick());
        this.part("next").addEventListener("click", () => {
            list.value = (Number(list.value || -1) + 1) % this.points.length;
            this.#pick();
        });
        this.part("picker").hidden = this.points.length === 0;
        if (this.points.length > 0) {
            list.value = 0;
            this.#pick();
        } else {
            this.result.clear();
        }
    }

    #pick() {
        const chosen = this.part("points").value;
        if (chosen === "") {
            return;
        }
        const { count } = this.features;
        const bytes = this.pointBytes.subarray(chosen * count, (Number(chosen) + 1) * count);
        this.pad?.clear();
        this.#moveSliders(this.features.restore(bytes));
        this.classify(bytes, this.points[chosen]);
    }

    /* ---- numbers ---- */

    #pasted() {
        try {
            const raw = this.features.read(this.part("row").value);
            this.part("points").value = "";
            this.pad?.clear();
            this.#moveSliders(raw);
            this.classify(this.features.quantize(raw));
        } catch (error) {
            this.#say(`${error.message}.`);
        }
    }

    #makeSliders({ names, lower, upper, start }) {
        const place = this.part("sliders");
        this.sliders = names.map((name, i) => {
            const label = place.appendChild(document.createElement("label"));
            const title = label.appendChild(document.createElement("span"));
            title.textContent = name;
            const slider = label.appendChild(document.createElement("input"));
            Object.assign(slider, { type: "range", min: lower[i], max: upper[i], step: "any" });
            slider.value = start[i];
            slider.addEventListener("input", () => {
                this.part("points").value = "";
                this.classify(this.features.quantize(this.sliders.map((one) => Number(one.value))));
            });
            return slider;
        });
        place.hidden = false;
    }

    #moveSliders(raw) {
        this.sliders?.forEach((slider, i) => (slider.value = raw[i]));
    }
}

const data = document.getElementById("uno-data");
new Page(document.getElementById("uno-page"), JSON.parse(data.textContent));
