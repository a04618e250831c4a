/* Training: a sentence for how, then the answers - good, fast, fits - and what they rest on. */
import { answers, costs } from "/figures.js";
import { button, choice, counted, find, labelled, make, number, percent, renew, short, small } from "/parts.js";
import { Result } from "/result.js";
import { Stage } from "/stage.js";

const FEATURES = {
    movement: "mean,deviation,min,max,crossings,bands:4",
    vibration: "bands:8",
    levels: "mean",
    raw: "",
};
const SEES = { movement: "movement", vibration: "vibration", levels: "levels", raw: "the raw curve" };
const LOOKS = [0.25, 0.5, 1, 2, 4];
const SOUND_HZ = 2000; // from which samples are sound, heard in frames
const FRAME = 256; // samples
const BANDS = 12;
const ONSET = 4; // the level of sound at which a window begins, on the board, too
const OVERLAP = 5; // windows that begin within one
const TITLES = {
    protonn: "ProtoNN",
    linear: "a linear model",
    dense: "a dense network",
    forest: "a forest of trees",
    bonsai: "Bonsai",
    "local-deep-kernel": "a local deep kernel",
    best: "the best of all kinds",
};
const SMALL = "28x28"; // pixels of images that an Uno can keep
const LARGE = 28;
const UNKNOWN = [["", "if no class passes its mark"], ["1%", "and to what is unlike the data"], ["5%", "and more often"]];
const LEAKS = ["shared", "copies"]; // notices of a test that is too easy
const LONG = 500; // samples of a window that an Uno can hardly keep

export class Train extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.chosen = {}; // what was chosen on this page, by the data for which it was
        find("#learning").addEventListener("submit", (event) => event.preventDefault());
        this.more = find("#more .fields");
        this.answered = new Result(studio);
    }

    // --- the sentence ---

    get fields() {
        return this.of(this.studio.state.data);
    }

    /** What was chosen for data of a name. */
    of(name) {
        return (this.chosen[name] ??= {});
    }

    get rate() {
        return this.studio.data?.rate || 0;
    }

    /** The samples of a window, and from one to the next. */
    get window() {
        const window = Math.max(2, Math.round(this.look * (this.rate || 1)));
        return { window, stride: +this.fields.stride || Math.max(1, Math.round(window / OVERLAP)) };
    }

    /** How many windows a part of samples gives; null if the data are not cut, or where a sound begins. */
    windowsOf(n) {
        if (!this.studio.isOfSamples || this.isSound) {
            return null;
        }
        const { window, stride } = this.window;
        return n < window ? 0 : Math.floor((n - window) / stride) + 1;
    }

    /** The size at which images are read: one that an Uno has room for. */
    get size() {
        const { kind, width = 0, height = 0 } = this.studio.data ?? {};
        return kind !== "images" ? undefined : (this.fields.size ?? (Math.max(width, height) > LARGE ? SMALL : undefined));
    }

    /** Whether the data are sound: its samples are too many for the features of movement. */
    get isSound() {
        return this.rate >= SOUND_HZ;
    }

    /** How long a window is: in seconds, or in samples if the rate is unknown. */
    get look() {
        return this.fields.look ?? this.#usual;
    }

    #looks() {
        const longest = Math.max(0, ...this.studio.stages.data.takes.map(({ n }) => n));
        if (!this.rate) {
            return [20, 50, 100, 200].filter((n) => n <= (longest || n)).map((n) => [n, `${n} samples`]);
        }
        if (this.isSound) {
            const frames = [4, 8, 16].filter((n) => n * FRAME <= (longest || Infinity));
            return (frames.length ? frames : [1]).map((n) => [(n * FRAME) / this.rate, `${+((n * FRAME) / this.rate).toPrecision(2)} s`]);
        }
        const fits = LOOKS.filter((s) => s * this.rate <= (longest || Infinity) && s * this.rate >= 4 && s * this.rate <= LONG);
        const every = fits.length ? fits : [Math.max(2, Math.min(longest || LONG, LONG)) / this.rate];
        return every.map((s) => [s, `${+s.toPrecision(3)} s`]);
    }

    get #usual() {
        const looks = this.#looks();
        const second = looks.find(([s]) => s === 1 || s === 50);
        return (second ?? looks.at(-1))[0];
    }

    /** The features of windows, as the command takes them. */
    get #features() {
        const { window } = this.window;
        return this.isSound ? `audio:${BANDS}x${window / FRAME}` : FEATURES[this.sees] || undefined;
    }

    #showSentence() {
        const { studio, fields } = this;
        const change = (name) => (value) => {
            fields[name] = value;
            this.show();
        };
        const kinds = studio.state.classifiers.map((name) => [name, TITLES[name] ?? name]);
        const kind = choice("classifier", [["", "the usual kind"], ...kinds], this.kind ?? "", change("classifier"), { "aria-label": "Kind of model" });
        const tests = choice("test", this.#tests(), fields.test ?? "", change("test"));
        const parts = studio.isOfSamples
            ? [
                  labelled(this.isSound ? "Listen to" : "Look at", choice("look", this.#looks(), this.look, change("look"))),
                  !this.isSound && labelled("for", choice("sees", Object.entries(SEES), this.sees, change("sees"))),
                  labelled("with", kind),
                  labelled("and test on", tests),
              ]
            : [labelled("Learn with", kind), labelled("and test on", tests)];
        renew(find("#learning"), ...parts);
        this.#showMore(change);
    }

    /** The kind that is asked for; without one, training takes ProtoNN or a clearly better kind. */
    get kind() {
        return this.fields.classifier || undefined;
    }

    /** Whether one class is the answer, not a number or a set of labels. */
    get #hasClasses() {
        return !["value", "labels"].includes(this.studio.stages.data.facts.target);
    }

    get sees() {
        return this.fields.sees ?? "movement";
    }

    /** Whom or what to test on: whole sessions if there are several, else a share. */
    #tests() {
        const names = Object.keys(this.studio.data?.sessions ?? {});
        const own = this.studio.data?.n_test ? [["", "the test in the file"]] : [];
        const whole = names.length > 1 ? [["", "somebody it never saw"], ...names.map((name) => [`of ${name}`, name])] : [];
        const shares = [["0.2", "20 % of them"], ["0.3", "30 % of them"]];
        const first = own.length || whole.length ? [] : [["", "20 % of them"]];
        return [...own, ...whole, ...first, ...(first.length || own.length ? shares.slice(1) : shares)];
    }

    #showMore(change) {
        const field = (name, words, attributes = {}) =>
            labelled(words, make("input", { type: "number", name, min: 1, value: this.fields[name] ?? "", "data-key": name, change: ({ target }) => change(name)(target.value), ...attributes }));
        const { data } = this.studio;
        renew(
            this.more,
            this.studio.isOfSamples && !this.isSound && field("stride", "Samples to the next window", { placeholder: this.window.stride }),
            this.kind === "best" && field("minutes", "Minutes", { placeholder: 5, min: 0.01, step: "any" }),
            this.kind !== "best" && field("epochs", "Epochs", { placeholder: "as usual" }),
            field("teachable", "Room for examples to teach on the board", { placeholder: "none" }),
            data?.kind === "images" && field("size", "Size of images", { type: "text", placeholder: this.size ?? "as they are" }),
            this.#hasClasses && this.kind !== "best" && labelled("Say unknown", choice("rejection", UNKNOWN, this.fields.rejection ?? "", change("rejection"))),
            field("budget", "Memory of the model", { type: "text", placeholder: "such as 2kB" }),
            field("seed", "Seed of random numbers", { placeholder: 0, min: 0 }),
        );
    }

    // --- training ---

    async perform() {
        if (await this.run(this.steps(), { behind: [this.studio.stages.board.step(this.#file)] })) {
            await this.studio.choose({ model: this.#file });
        }
    }

    /** The file of the model, which another kind or other data do not replace. */
    get #file() {
        return `${this.studio.state.base}-${this.kind ?? "model"}.npz`;
    }

    steps() {
        const { studio, fields } = this;
        const { state } = studio;
        const { window, stride } = this.window;
        const { epochs, minutes, teachable, budget, seed, names, rejection } = fields;
        const { size } = this;
        const cut = studio.isOfSamples;
        const points = cut ? `${state.base}-windows.npz` : state.data;
        const model = this.#file;
        const board = state.source.board === "uno" ? undefined : state.source.board;
        const best = this.kind === "best";
        const shared = { epochs: best ? undefined : epochs, minutes: best ? minutes : undefined, rejection: best || !this.#hasClasses ? undefined : rejection, teachable, budget, seed, board };
        const read = cut ? {} : studio.read;
        const features = cut && !best ? this.#features : undefined;
        const train = ["train", { points, model, classifier: this.kind, features, ...this.#held(), ...read, ...shared, size, names: cut ? undefined : names }];
        return cut ? [["windows", { data: state.data, windows: points, window, ...(this.isSound ? { onset: ONSET } : { stride }), rate: studio.data.sampled ?? undefined, names: names ?? studio.data.names ?? undefined }], train] : [train];
    }

    #held() {
        const { test } = this.fields;
        if (!test) {
            return {};
        }
        return test.startsWith("of ") ? { groups: "groups", holdout: [test.slice(3)] } : { holdout: test };
    }

    doing(action) {
        return action === "train" && this.kind === "best" && "Comparing kinds";
    }

    // --- the result ---

    show() {
        super.show();
        this.#showSentence();
        const { job, studio } = this;
        const { model } = studio;
        const result = find("#result");
        const trained = job?.records?.some(({ action, state }) => action === "train" && state === "done");
        result.classList.toggle("before", Boolean(job) && !trained); // the model of before
        result.inert = Boolean(job) && !trained;
        this.#showModels(model ?? {});
        result.hidden = !model;
        if (model) {
            this.#answers(model);
            this.answered.show();
        }
    }

    #answers({ board, held, kinds, kind, predicts }) {
        const tried = Object.entries(kinds?.errors ?? {}).map(([name, error]) => `${TITLES[name] ?? name} ${predicts === "class" ? percent(1 - error, 0) : `±${short(error)}`}`);
        const chosen = kinds ? `${kind} was taken automatically: on the ${counted(kinds.n, "point")} held out, it is clearly better (${tried.join(", ")}).` : "";
        find("#chosen").textContent = chosen;
        const warnings = (this.known.notices ?? []).filter(({ warning, action }) => warning && action !== "build");
        const of = `${this.studio.state.point}s${held ? ` of ${held}` : ""}`;
        const lower = warnings.some(({ kind }) => LEAKS.includes(kind)) ? "lower on new data: see below" : "see below";
        const checking = this.studio.behind.running;
        const waits = checking ? "Being checked on the emulated board. Go on meanwhile; this fills in by itself." : "not built for a board yet";
        const shown = checking ? undefined : board; // that of before
        find("#answers").replaceChildren(...answers(this.facts, shown, { of, waits, checking, caution: warnings.length ? lower : "" }));
        this.showChecking();
    }

    /** Show how far the build behind is. */
    showChecking() {
        find("#answers progress")?.setAttribute("value", Math.max(this.studio.behind.part ?? 0, 0.01));
    }

    // --- the models ---

    #showModels(used) {
        const { models: every, data } = this.studio.state;
        find("#models").hidden = !every.length;
        const right = { name: used.value ? "error" : "right", unit: used.value ? "" : " %", better: used.value ? -1 : 1, digits: used.value ? 3 : 1 };
        const columns = [
            { ...right, of: ({ share, value }) => (Number.isFinite(share) ? 100 * share : value?.error) },
            ...["time", "flash", "SRAM"].map((name) => ({
                name,
                unit: name === "time" ? " ms" : " B",
                better: -1,
                digits: name === "time" ? 2 : 0,
                of: ({ board }) => board && costs(board)[name]?.used,
            })),
        ];
        const cell = (one, other, { of, unit, better, digits: places }) => {
            const [mine, theirs] = [of(one), of(other)].map((value) => (value === undefined || value === null ? NaN : value));
            const by = +(mine - theirs).toFixed(places);
            const sign = `${by > 0 ? "+" : "−"}${number(Math.abs(by))} `;
            const change = by && small(make("span", { class: by * better > 0 ? "better" : "worse" }, sign));
            return make("td", {}, change || null, isNaN(mine) ? "–" : `${number(+mine.toFixed(places))}${unit}`);
        };
        const row = (one) => {
            if (one.error) {
                return make("tr", {}, make("td"), make("th", { scope: "row" }, small(one.name)), make("td", { class: "text", colspan: columns.length }, one.error));
            }
            const { kind, current, of } = one;
            const press = () => this.studio.choose({ data: of ?? data, model: one.name });
            const attributes = { type: "radio", name: "model", checked: one === used, "data-key": `use ${one.name}`, change: press };
            const radio = make("input", { ...attributes, "aria-label": `Use ${one.name}` });
            const name = small(one.name, current === false ? (of ? `, of ${of}` : ", older than the data") : "");
            const other = current === false && of ? one : used; // of other data, figures are not compared
            const cells = columns.map((column) => cell(one, other, column));
            const pick = make("td", { class: "text" }, make("label", { class: "pick" }, radio));
            return make("tr", { class: one === used ? "chosen" : "" }, pick, make("th", { scope: "row" }, kind ?? "", " ", name), ...cells);
        };
        const heads = ["in use", "model", ...columns.map(({ name }) => name)];
        const head = heads.map((words, at) => make("th", { class: at < 2 ? "text" : "", scope: "col" }, words));
        renew(find("#models table"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...every.map(row)));
    }

    helpsFor({ kind, names }) {
        const data = [...LEAKS, "left_out"].includes(kind) && button("Show the data", () => this.studio.go("data"));
        return [data, names && this.#again(`Train with names as ${names}`, { names })].filter(Boolean);
    }

    /** What helps if a model does not fit the board. */
    smaller() {
        const images = this.studio.data?.kind === "images" && !this.size;
        return [
            images && this.#again("Train with smaller images", { size: SMALL }),
            this.kind !== "best" && this.#again("Find a model that fits", { classifier: "best" }),
        ].filter(Boolean);
    }

    #again(words, fields) {
        return button(words, () => {
            Object.assign(this.fields, fields);
            return this.press({ go: "train", run: "train" });
        });
    }
}
