/* Training, and what the trained model answers to points that it has not seen. */
import { ActionForm } from "/forms.js";
import { curve, fieldsOf, fill, find, make, number, offer, percent, rangeOf } from "/parts.js";

const OF_SAMPLES = ["recording", "takes"]; // which are cut into windows
const OF_POINTS = ["points", "table", "images"];
const FEATURES = { windows: "mean,deviation,min,max,crossings,bands:4", points: "", images: "" };

export class Training {
    constructor(wire) {
        this.wire = wire;
        this.kinds = {};
        this.form = find("#training");
        this.action = new ActionForm(this.form, wire, () => this.steps());
        this.form.elements.data.addEventListener("input", () => this.#data());
        this.form.elements.classifier.addEventListener("input", () => this.#classifier());
        this.action.press("look", () => wire.run([["data", { data: this.points, ...this.read }]]));
        wire.on("job", ({ job }) => {
            if (job.action === "train" && (job.state === "done" || job.state === "stopped") && job.record) {
                this.show(this.#model, this.points);
            }
        });
    }

    offer(state) {
        this.kinds = Object.fromEntries(state.files.map(({ name, kind }) => [name, kind]));
        const usable = [...OF_SAMPLES, ...OF_POINTS];
        const names = usable.flatMap((kind) => Object.keys(this.kinds).filter((name) => this.kinds[name] === kind));
        offer(this.form.elements.classifier, state.classifiers);
        offer(this.form.elements.data, names, "record takes, or drop a file on this page");
        this.action.renew();
    }

    /** What kind of data is chosen: samples that are cut into windows, points, or images. */
    get kind() {
        const kind = this.kinds[this.form.elements.data.value];
        return OF_SAMPLES.includes(kind) ? "windows" : kind === "images" ? "images" : "points";
    }

    get #model() {
        const { model } = this.form.elements;
        return model.value.endsWith(".npz") ? model.value : `${model.value}.npz`;
    }

    /** The file of points that training reads. */
    get points() {
        const { data } = this.form.elements;
        return this.kind === "windows" ? "windows.npz" : data.value;
    }

    /** How the file of points is read. */
    get read() {
        const { column, size } = fieldsOf(this.form);
        return size ? { size } : column ? { column } : {};
    }

    #data() {
        for (const kind of ["windows", "images", "points"]) {
            this.form.querySelectorAll(`.${kind}`).forEach((one) => (one.hidden = this.kind !== kind));
        }
        this.form.elements.features.value = FEATURES[this.kind];
    }

    #classifier() {
        const { classifier, model } = this.form.elements;
        const best = classifier.value === "best";
        find(".best", this.form).hidden = !best;
        find(".epochs", this.form).hidden = best;
        model.value = `${classifier.value}.npz`;
    }

    steps() {
        const { data, window, stride, test, size, column, features, ...more } = fieldsOf(this.form);
        const train = { points: this.points, model: this.#model, ...this.read, ...more };
        if (data && features && more.classifier !== "best") {
            train.features = features;
        }
        if (this.kind !== "windows") {
            return [["train", train]];
        }
        return [["windows", { data, windows: "windows.npz", window, stride, test: more.groups ? undefined : test }], ["train", train]];
    }

    async show(model, points) {
        const found = await this.wire.ask("figures", { model, points, ...this.read });
        find("#figures").hidden = !found;
        if (!found) {
            return;
        }
        find("#figures-title").textContent = `${found.model}, ${number(found.n)} points of ${found.data}`;
        find("#cell").replaceChildren();
        const facts = found.facts.map(([name, value]) => `${name}: ${value}`).join("; ");
        const seen = found.trained_on ? " (on points that it was trained on, which is too high)" : "";
        find("#accuracy").textContent = facts ? `${facts}${seen}` : "no point has a class of the model";
        (found.classes ? this.#classes : this.#values).call(this, found);
    }

    #values({ pairs }) {
        fill(find("#matrix"), "Answers to held-out points", ["actual", "answered"], pairs.slice(0, 100).map((one) => one.map((value) => `${+value.toPrecision(6)}`)));
        find("#per-class").replaceChildren();
        this.#sessions([]);
    }

    #classes({ classes, matrix, quality, cells, by_session }) {
        const names = [...classes, ...(matrix.some((row) => row[classes.length]) ? ["unknown"] : [])];
        const cell = (label, answer) => {
            const count = matrix[label][answer];
            const words = `${count} of ${classes[label]}, answered ${names[answer]}`;
            const pressed = () => this.#cell(words, cells[`${label} ${answer}`] ?? []);
            const kind = label === answer ? "right" : "wrong";
            return count ? make("button", { type: "button", class: kind, "aria-label": words, click: pressed }, `${count}`) : "0";
        };
        const rows = classes.map((name, label) => [name, ...names.map((_, answer) => cell(label, answer))]);
        fill(find("#matrix"), "Rows: the class. Columns: the answer. Press a number to see the points.", ["", ...names], rows);
        const share = (value) => (value === null ? "–" : percent(value));
        const figures = quality?.per_class.map((one) => [one.class, one.n, share(one.precision), share(one.recall)]) ?? [];
        fill(find("#per-class"), "Each class", ["class", "points", "precision", "recall"], figures);
        this.#sessions(by_session);
    }

    #sessions(sessions) {
        const table = find("#per-session");
        table.parentElement.hidden = !sessions.length;
        const row = ({ name, n, right, interval: [low, high] }) => [name, n, percent(right / n), `${percent(low)} to ${percent(high)}`];
        fill(table, "Each session or person", ["session", "points", "correct", "95 % confidence"], sessions.map(row));
    }

    #cell(words, points) {
        const shown = points.map(({ curves, image, width, values }) => {
            if (curves) {
                return curve(curves, curves.map(() => rangeOf(curves.flat())));
            }
            return image ? picture(image, width) : make("p", { class: "note" }, values.map(([name, value]) => `${name} ${value}`).join(", "));
        });
        find("#cell").replaceChildren(make("p", { class: "note" }, words), make("div", { class: "gallery" }, ...shown));
    }
}

/** Draw a point as an image. */
function picture(values, width) {
    const canvas = make("canvas", { width, height: values.length / width, class: "picture", "aria-hidden": "true" });
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(width, values.length / width);
    const [low, high] = rangeOf(values);
    values.forEach((value, at) => {
        image.data.fill((255 * (value - low)) / (high - low || 1), 4 * at, 4 * at + 3);
        image.data[4 * at + 3] = 255;
    });
    pen.putImageData(image, 0, 0);
    return canvas;
}
