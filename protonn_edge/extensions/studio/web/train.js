/* Training: a sentence for how, then the answers - good, fast, fits - and what they rest on. */
import { bold, brief, button, choice, counted, curve, draw, fill, find, labelled, make, number, percent, picture, polylines, rangeOf, renew, short, small, unseen } from "/parts.js";
import { Stage } from "/stage.js";

const FEATURES = {
    movement: "mean,deviation,min,max,crossings,bands:4",
    vibration: "bands:8",
    levels: "mean",
    raw: "",
};
const SEES = { movement: "movement", vibration: "vibration", levels: "levels", raw: "the raw curve" };
const LOOKS = [0.25, 0.5, 1, 2, 4];
const OVERLAP = 5; // windows that begin within one
const TITLES = { protonn: "ProtoNN", bonsai: "Bonsai", best: "the best of all kinds" };
const LONG = 500; // samples of a window that an Uno can hardly keep
const PAIRS = 300;

export class Train extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.fields = {}; // what was chosen on this page
        this.figures = {};
        find("#learning").addEventListener("submit", (event) => event.preventDefault());
        this.more = find("#more .fields");
    }

    // --- the sentence ---

    get rate() {
        return this.studio.data?.rate || 0;
    }

    /** The samples of a window, and from one to the next. */
    get window() {
        const look = this.fields.look ?? this.#looks()[this.#usual()]?.[0];
        const window = Math.max(2, Math.round(look * (this.rate || 1)));
        return { window, stride: +this.fields.stride || Math.max(1, Math.round(window / OVERLAP)) };
    }

    /** How many windows a part of samples gives; null if the data are not cut. */
    windowsOf(n) {
        if (!this.studio.isOfSamples) {
            return null;
        }
        const { window, stride } = this.window;
        return n < window ? 0 : Math.floor((n - window) / stride) + 1;
    }

    #looks() {
        const longest = Math.max(0, ...this.studio.stages.data.takes.map(({ n }) => n));
        if (!this.rate) {
            return [20, 50, 100, 200].filter((n) => n <= (longest || n)).map((n) => [n, `${n} samples`]);
        }
        const fits = LOOKS.filter((s) => s * this.rate <= (longest || Infinity) && s * this.rate >= 4 && s * this.rate <= LONG);
        const every = fits.length ? fits : [Math.max(2, Math.min(longest || LONG, LONG)) / this.rate];
        return every.map((s) => [s, `${+s.toPrecision(3)} s`]);
    }

    #usual() {
        const looks = this.#looks();
        const second = looks.findIndex(([s]) => s === 1 || s === 50);
        return second >= 0 ? second : looks.length - 1;
    }

    #showSentence() {
        const { studio, fields } = this;
        const change = (name) => (value) => {
            fields[name] = value;
            this.show();
        };
        const kinds = studio.state.classifiers.map((name) => [name, TITLES[name] ?? name]);
        const kind = choice("classifier", kinds, this.kind, change("classifier"), { "aria-label": "Kind of model" });
        const tests = choice("test", this.#tests(), fields.test ?? "", change("test"));
        const parts = studio.isOfSamples
            ? [
                  labelled("Look at", choice("look", this.#looks(), this.fields.look ?? this.#looks()[this.#usual()]?.[0], change("look"))),
                  labelled("for", choice("sees", Object.entries(SEES), this.sees, change("sees"))),
                  labelled("with", kind),
                  labelled("and test on", tests),
              ]
            : [labelled("Learn with", kind), labelled("and test on", tests)];
        renew(find("#learning"), ...parts);
        this.#showMore(change);
    }

    get kind() {
        const { classifiers = [] } = this.studio.state;
        return this.fields.classifier ?? (classifiers.includes("protonn") ? "protonn" : classifiers[0]);
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
            this.studio.isOfSamples && field("stride", "Samples to the next window", { placeholder: this.window.stride }),
            this.kind === "best" && field("minutes", "Minutes", { placeholder: 5, min: 0.01, step: "any" }),
            this.kind !== "best" && field("epochs", "Epochs", { placeholder: "as usual" }),
            field("teachable", "Room for classes to teach on the board", { placeholder: "none" }),
            data?.kind === "images" && field("size", "Size of images", { type: "text", placeholder: "28x28" }),
            field("budget", "Memory of the model", { type: "text", placeholder: "such as 2kB" }),
            field("seed", "Seed of random numbers", { placeholder: 0, min: 0 }),
        );
    }

    // --- training ---

    async perform() {
        await this.run(this.steps());
    }

    steps() {
        const { studio, fields } = this;
        const { state } = studio;
        const { window, stride } = this.window;
        const { epochs, minutes, teachable, budget, seed, size } = fields;
        const cut = studio.isOfSamples;
        const points = cut ? "windows.npz" : state.data;
        const model = `${this.kind}.npz`;
        const board = state.source.board === "uno" ? undefined : state.source.board;
        const best = this.kind === "best";
        const shared = { epochs: best ? undefined : epochs, minutes: best ? minutes : undefined, teachable, budget, seed, board };
        const read = cut ? {} : this.studio.read;
        const features = cut && !best ? FEATURES[this.sees] || undefined : undefined;
        const train = ["train", { points, model, classifier: this.kind, features, ...this.#held(), ...read, ...shared, size }];
        const steps = cut ? [["windows", { data: state.data, windows: points, window, stride }], train] : [train];
        return [...steps, studio.stages.board.step(model)];
    }

    #held() {
        const { test } = this.fields;
        if (!test) {
            return {};
        }
        return test.startsWith("of ") ? { groups: "groups", holdout: [test.slice(3)] } : { holdout: test };
    }

    doing(action) {
        const kinds = { train: this.kind === "best" ? "Comparing kinds" : "Training" };
        return kinds[action];
    }

    // --- the result ---

    async show() {
        super.show();
        this.#showSentence();
        const { model } = this.studio;
        const { job } = this;
        const result = find("#result");
        const trained = job?.records?.some(({ action, state }) => action === "train" && state === "done");
        result.classList.toggle("before", Boolean(job) && !trained); // the model of before
        result.inert = Boolean(job) && !trained;
        find("#preview").hidden = Boolean(model) || !this.studio.isOfSamples;
        if (!model) {
            result.hidden = true;
            find("#models").hidden = true;
            this.#preview();
            return;
        }
        await this.#askModels();
        await this.#askFigures();
        this.#answers();
        result.hidden = false;
        this.#showModels();
    }

    ended() {
        this.asked = "";
    }

    async #askModels() {
        const { models, files } = this.studio.state;
        const version = JSON.stringify([models.map(({ name, at }) => [name, at]), files.filter(({ kind }) => ["live", "project"].includes(kind)).map(({ at, flash_bytes }) => [at, flash_bytes])]);
        if (version !== this.version) {
            const found = await this.studio.wire.ask("models");
            if (!found.error) {
                Object.assign(this, { version, every: found.models });
            }
        }
    }

    /** The figures of the model in use on points that it has not seen. */
    get result() {
        return this.every?.find(({ name }) => name === this.studio.state.model) ?? {};
    }

    #answers() {
        const { accuracy, value, board } = this.result;
        const warned = (this.known.notices ?? []).some(({ warning, action }) => warning && action !== "build");
        const held = this.studio.model?.held?.join(", ");
        const answer = (mark, words, ...said) =>
            make("div", {}, make("dt", {}, make("span", { class: mark === "!" ? "caution" : "tick" }, mark), words), make("dd", {}, ...said));
        const good = accuracy
            ? [bold((100 * accuracy.share).toFixed(1)), " % right", small(`${accuracy.right} of ${accuracy.n} ${this.studio.isOfSamples ? "windows" : "points"}${held ? ` of ${held}` : ""}; ${percent(accuracy.low)} to ${percent(accuracy.high)} at 95 % confidence`)]
            : value
              ? [bold(`±${short(value.bound ?? value.error)}`), ` ${value.unit ?? ""}`, small(`${value.bound ? "90 % of new values lie within; " : ""}mean error ${short(value.error)}${value.mean_error ? `, of always the mean: ${short(value.mean_error)}` : ""}`)]
              : [bold("–"), small("no point was held out for a test")];
        const lower = warned && small("lower on new data: see below");
        lower && lower.classList.add("caution");
        const every = board?.hop && board?.rate ? ` there is one every ${Math.round((1000 * board.hop) / board.rate)} ms` : "";
        const fast = board?.ms ? [bold(brief(board.ms)), " ms", small(`at most, for each answer;${every || " computed from the machine code"}`)] : [bold("–"), small(this.#unbuilt())];
        const shares = board ? [board.flash_bytes / board.flash_limit, (board.sram_bytes + board.stack_bytes) / board.sram_limit] : [];
        const title = this.#titleOf(board?.board);
        const fits = board ? [bold(`${Math.round(100 * Math.max(...shares))}`), " %", small(`${shares[0] >= shares[1] ? "of the flash" : "of the SRAM"} of the ${title}`)] : [bold("–"), small(this.#unbuilt())];
        find("#answers").replaceChildren(
            answer(warned ? "!" : "✓", "Good?", ...good, lower || null),
            answer(board ? "✓" : "…", "Fast?", ...fast),
            answer(board ? (Math.max(...shares) > 1 ? "!" : "✓") : "…", "Fits?", ...fits),
        );
    }

    #unbuilt() {
        return this.job ? "checking on the emulated board" : "not built for a board yet";
    }

    #titleOf(board) {
        return this.studio.state.boards.find(({ name }) => name === board)?.title.replace(/^Arduino /, "") ?? board ?? "board";
    }

    async #askFigures() {
        const { model, points } = this.studio.state;
        const key = JSON.stringify([model, points, this.studio.model?.at, this.studio.model?.current]);
        if (this.asked === key || !points) {
            return;
        }
        const found = await this.studio.wire.ask("figures", { model, points, ...this.studio.read });
        this.asked = key;
        if (found.error) {
            find("#matrix").replaceChildren(make("p", { class: "note" }, `The figures cannot be shown: ${found.error}`));
            find("#cell").replaceChildren();
            find("#each").hidden = true;
            return;
        }
        find("#each").hidden = !found.classes;
        (found.classes ? this.#showClasses : this.#showValues).call(this, found);
    }

    #showClasses({ classes, matrix, quality, cells, by_session }) {
        this.cells = { classes, matrix, cells, names: [...classes, ...(matrix.some((row) => row[classes.length]) ? ["unknown"] : [])] };
        const wrong = matrix.flatMap((row, label) => row.map((n, answer) => [n && label !== answer, label, answer])).find(([n]) => n);
        this.#showMatrix(...(wrong ? wrong.slice(1) : [0, 0]));
        const share = (value) => (value === null ? "–" : percent(value));
        const figures = quality?.per_class.map((one) => [one.class, one.n, share(one.precision), share(one.recall)]) ?? [];
        fill(find("#per-class"), "Each class", ["class", "tested", "precision", "recall"], figures);
        const sessions = by_session.map(({ name, n, right, interval: [low, high] }) => [name, n, percent(right / n), `${percent(low)} to ${percent(high)}`]);
        fill(find("#per-session"), "Each session or person", ["person", "tested", "right", "95 % confidence"], sessions);
    }

    #showMatrix(label, answer) {
        const { classes, matrix, names } = this.cells;
        const most = Math.max(1, ...matrix.flat());
        const cell = (row, column) => {
            const n = matrix[row][column];
            const words = `${n} of ${classes[row]}, answered ${names[column]}`;
            const kind = !n ? "" : row === column ? "right" : column === classes.length ? "unknown" : "wrong";
            const pressed = row === label && column === answer;
            const press = n > 0 && button(`${n}`, () => this.#showMatrix(row, column), { "aria-pressed": `${pressed}`, "aria-label": words, title: words, "data-key": `${row} ${column}` });
            return make("td", { class: kind, style: { "--tint": `${Math.round(12 + (38 * n) / most)}%` } }, press);
        };
        const digits = `${most}`.length;
        const table = make(
            "table",
            { class: names.length <= 5 ? "level" : "", style: { "--columns": names.length, "--digits": digits } },
            make("caption", {}, "Answers to held-out windows"),
            make("thead", {}, make("tr", {}, make("td", {}, "actual \\ answer"), ...names.map((name) => make("th", { scope: "col" }, make("span", {}, name))))),
            make("tbody", {}, ...classes.map((name, row) => make("tr", {}, make("th", { scope: "row" }, name), ...names.map((_, column) => cell(row, column))))),
        );
        renew(find("#matrix"), table);
        this.#showCell(label, answer);
    }

    #showCell(label, answer) {
        const { classes, names, cells, matrix } = this.cells;
        const points = cells[`${label} ${answer}`] ?? [];
        const what = this.studio.isOfSamples ? "window" : "point";
        const title = `${classes[label]}, answered ${names[answer]}: ${counted(matrix[label][answer], what)}`;
        const hint = this.studio.isOfSamples ? "Press a number to see its windows, and a window to open its take." : "Press a number to see its points.";
        renew(find("#cell"), make("h2", { class: "sub" }, title), make("ul", { class: "strip-of" }, ...points.map((one, at) => this.#point(one, at))), make("p", { class: "note" }, hint));
    }

    #point({ curves, image, width, values, at }, place) {
        const drawn = curves
            ? curve(curves, this.studio.stages.data.recording?.scales ?? curves.map(() => rangeOf(curves.flat())))
            : image
              ? picture(image, width)
              : make("small", {}, values.map(([name, value]) => `${name} ${value}`).join(", "));
        if (!at) {
            return make("li", {}, make("div", { class: "thumb" }, drawn));
        }
        const take = this.studio.stages.data.takes[at.take - 1];
        const words = make("span", {}, unseen(`Window ${place + 1}, open its take: `), take?.session ?? "", make("i", {}, `take ${at.take}`));
        const open = () => {
            this.studio.go("data");
            this.studio.stages.data.editor.open(at.take, [at.first, at.first + at.n]);
        };
        return make("li", {}, button([drawn, words], open, { class: "thumb", "data-key": `window ${place}`, disabled: !take }));
    }

    /** Numbers: the value of each held-out point, and what was predicted. */
    #showValues({ pairs, facts }) {
        const shown = pairs.slice(0, PAIRS);
        const [low, high] = rangeOf(shown.flat());
        const place = (value) => ((value - low) / (high - low || 1)) * 300;
        const dots = shown.map(([actual, said]) => draw("circle", { cx: place(actual) + 45, cy: 310 - place(said), r: 3.2 }));
        const text = (x, y, words, anchor = "middle") => draw("text", { x, y, "text-anchor": anchor }, words);
        const label = `${shown.length} held-out points: the predicted value against the actual one, from ${short(low)} to ${short(high)}`;
        const plot = draw(
            "svg",
            { viewBox: "0 0 360 350", role: "img", "aria-label": label, class: "values" },
            draw("path", { d: "M45 310L345 10M45 10V310H345" }),
            ...dots,
            text(45, 328, short(low)),
            text(345, 328, short(high), "end"),
            text(195, 345, "actual"),
            text(40, 312, short(low), "end"),
            text(40, 18, short(high), "end"),
            text(40, 165, "said", "end"),
        );
        find("#matrix").replaceChildren(plot);
        find("#cell").replaceChildren(make("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, `${value}`)])));
    }

    // --- the models ---

    #showModels() {
        const every = (this.every ?? []).filter(({ error }) => !error);
        const used = this.result;
        find("#models").hidden = !every.length;
        const right = ({ accuracy, value }) => (accuracy ? 100 * accuracy.share : value ? value.error : null);
        const cell = (one, figure, unit, better, digits = 1) => {
            const [mine, theirs] = [figure(one), figure(used)];
            if (mine === null || mine === undefined) {
                return make("td", {}, "–");
            }
            const by = theirs === null || theirs === undefined || one === used ? 0 : mine - theirs;
            const good = by * better > 0;
            const sign = `${by > 0 ? "+" : "−"}${number(+Math.abs(by).toFixed(digits))} `;
            return make("td", {}, +by.toFixed(digits) ? small(make("span", { class: good ? "better" : "worse" }, sign)) : null, `${number(+mine.toFixed(digits))}${unit}`);
        };
        const row = (one) => {
            const facts = this.studio.state.models.find(({ name }) => name === one.name) ?? {};
            const chosen = one === used;
            const radio = make("input", { type: "radio", name: "model", checked: chosen, "aria-label": `Use ${one.name}`, "data-key": `use ${one.name}`, change: () => this.studio.choose({ model: one.name }) });
            const old = facts.current === false ? ", older than the data" : "";
            const bars = [(it) => it.board?.ms, (it) => it.board?.flash_bytes, (it) => it.board && it.board.sram_bytes + it.board.stack_bytes];
            return make(
                "tr",
                { class: chosen ? "chosen" : "" },
                make("td", { class: "text" }, make("label", { class: "pick" }, radio)),
                make("th", { scope: "row" }, facts.kind ?? one.name, " ", small(one.name, old)),
                cell(one, right, one.value ? "" : " %", one.value ? -1 : 1, one.value ? 3 : 1),
                cell(one, bars[0], " ms", -1),
                cell(one, bars[1], " B", -1, 0),
                cell(one, bars[2], " B", -1, 0),
            );
        };
        const heads = [["in use", "text"], ["model", "text"], [used.value ? "error" : "right", ""], ["time", ""], ["flash", ""], ["SRAM", ""]];
        const head = make("thead", {}, make("tr", {}, ...heads.map(([words, kind]) => make("th", { class: kind, scope: "col" }, words))));
        const table = find("#models table");
        renew(table, head, make("tbody", {}, ...every.map(row)));
    }

    // --- before there is a model ---

    /** The takes were read: they bound how long a window can be. */
    showTakes() {
        this.#showSentence();
        this.#preview();
    }

    /** One take of each class, with the first windows that are cut from it. */
    #preview() {
        const { recording, labels } = this.studio.stages.data;
        if (!this.studio.isOfSamples || !recording) {
            return;
        }
        const { window, stride } = this.window;
        const card = (label) => {
            const take = recording.takes.find((one) => one.label === label);
            const windows = this.windowsOf(take.n);
            const drawn = Math.min(windows, 12);
            const x = (at) => (200 * at) / take.n;
            const svg = draw(
                "svg",
                { viewBox: `0 0 200 ${61 + drawn * 3.4}`, preserveAspectRatio: "none", role: "img", "aria-label": `A take of ${label} and its windows` },
                draw("rect", { class: "window", width: x(Math.min(window, take.n)), height: 60 }),
                ...polylines(take.curves, recording.scales, 200, 60),
                ...Array.from({ length: drawn }, (_, at) => draw("rect", { class: "cutat", x: x(at * stride) + 0.5, y: 61.5 + at * 3.4, width: Math.max(1, x(window) - 1), height: 2 })),
            );
            const long = this.rate ? `${short(take.n / this.rate)} s` : `${number(take.n)} samples`;
            return make("li", {}, make("h3", {}, label), svg, make("p", {}, `${counted(windows, "window")} of a take of ${long}`));
        };
        find("#preview ul").replaceChildren(...labels.slice(0, 12).map(card));
    }

    helpsFor({ kind }) {
        return kind === "shared" || kind === "copies" ? [button("Show the data", () => this.studio.go("data"))] : [];
    }
}
