/* The model on samples and on the board: live classes, firmware and its budget, models side by side, the report. */
import { ActionForm } from "/forms.js";
import { fieldsOf, fill, find, make, number, offer } from "/parts.js";

/** The names of the models, the newest first. */
const usableModels = ({ models }) =>
    models
        .filter(({ error }) => !error)
        .sort((a, b) => b.at - a.at)
        .map(({ name }) => name);

export class LiveClasses {
    constructor(wire, recording) {
        Object.assign(this, { wire, recording });
        this.form = find("#live");
        const monitor = () => [["monitor", { project: find("#building").elements.project.value, ...recording.source() }]];
        this.action = new ActionForm(this.form, wire, monitor);
        this.action.press("classify", () => this.#classify());
        this.action.press("board", () => this.#connect("live"));
        this.action.press("teach", () => this.#connect("teaching"));
        wire.on("answer", ({ answer }) => this.#show(answer));
        wire.on("stream", ({ stream }) => this.#state(stream));
    }

    offer(state) {
        const models = usableModels(state);
        offer(this.form.elements.model, models, "train a model first");
        this.action.renew();
    }

    #classify() {
        const { model, hop, votes } = fieldsOf(this.form);
        this.wire.order("order", { what: "classify", model, hop, votes });
    }

    #connect(kind) {
        this.recording.connect(kind, { project: find("#building").elements.project.value });
    }

    #state(stream) {
        const answers = stream.running && stream.classes?.length > 0;
        find("#answer").hidden = !answers;
        const place = find("#teachers");
        place.hidden = !answers || stream.kind !== "teaching";
        const press = (what, label) => () => this.wire.order("order", { what, label });
        const buttons = (stream.classes ?? []).flatMap((name, label) => [
            make("button", { type: "button", click: press("teach", label) }, `This is ${name}`),
            make("button", { type: "button", click: press("forget", label) }, `Forget ${name}`),
        ]);
        if (place.childElementCount !== buttons.length) {
            place.replaceChildren(...buttons);
        }
    }

    #show({ by, label, reported, scores, figures, sure, value }) {
        find("#answer").hidden = false;
        find("#class").textContent = value ?? reported ?? label;
        const who = by === "board" ? "the board" : "this computer, in the board's integers";
        const share = sure ?? figures?.confidence_percent;
        const words = share === undefined || value ? label : `${label}, ${share} % sure`;
        find("#says").textContent = `says ${who}; the last window: ${words}`;
        const numbers = Object.values(scores);
        const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
        const row = ([name, score]) =>
            make(
                "li",
                { class: name === label ? "winner" : "" },
                make("span", {}, name),
                make("meter", { min: 0, max: 1, value: (score - low) / (high - low || 1), "aria-label": `score of ${name}` }),
                make("span", { class: "score" }, number(score)),
            );
        find("#scores").replaceChildren(...(value ? [] : Object.entries(scores).map(row)));
    }
}

export class Building {
    constructor(wire, recording) {
        Object.assign(this, { wire, recording });
        this.form = find("#building");
        this.action = new ActionForm(this.form, wire, () => this.#steps());
        this.form.elements.kind.addEventListener("input", () => this.#kind());
        this.form.elements.model.addEventListener("input", () => this.#model());
        this.action.press("upload", () => wire.run([["upload", { project: this.form.elements.project.value, ...recording.source() }]]));
        wire.on("job", ({ job }) => {
            if (["build", "build-points"].includes(job.action) && job.state === "done") {
                this.#budget(job.record);
            }
        });
    }

    offer(state) {
        this.sensors = Object.fromEntries(state.models.map(({ name, sensor }) => [name, sensor]));
        offer(this.form.elements.model, usableModels(state), "train a model first");
        this.form.elements.sensor.value ||= this.recording.sensor ?? "";
        this.action.renew();
    }

    /** The firmware samples the model's sensor; a model of a table gets its points from the computer. */
    #model() {
        const { kind, model, sensor } = this.form.elements;
        const own = this.sensors[model.value];
        kind.value = own === "" ? "points" : "live";
        sensor.value = own || sensor.value;
        this.#kind();
    }

    #kind() {
        const live = this.form.elements.kind.value === "live";
        this.form.querySelectorAll(".live").forEach((one) => (one.hidden = !live));
        this.form.elements.project.value = live ? "live" : "project";
    }

    #steps() {
        const { kind, sensor, ...fields } = fieldsOf(this.form);
        const { board } = this.recording.source();
        const action = kind === "live" ? "build" : "build-points";
        return [[action, { ...fields, board, sensor: sensor?.split(/[ ,]+/).filter(Boolean) }]];
    }

    async #budget(record) {
        const limits = await this.wire.ask("limits", { board: record.board });
        if (!limits) {
            return;
        }
        const row = (name, used, limit, note) => [
            make("dt", {}, name),
            make(
                "dd",
                {},
                make("meter", { min: 0, max: limit, value: used, "aria-label": `${name} of the board` }),
                ` ${number(used)} of ${number(limit)} B${note}`,
            ),
        ];
        const sram = record.sram_bytes + record.stack_bytes;
        const ms = record.response ? `${((1000 * record.response.cycles) / 16e6).toFixed(1)} ms after the last sample, at most` : "";
        const response = ms ? [make("dt", {}, "Response"), make("dd", {}, ms)] : [];
        find("#budget").hidden = false;
        find("#budget").replaceChildren(
            ...row("Flash", record.flash_bytes, limits.flash_bytes, ""),
            ...row("SRAM", sram, limits.sram_bytes, `, of which ${number(record.stack_bytes)} B of stack`),
            ...response,
        );
    }
}

export class Models {
    constructor(wire, training) {
        Object.assign(this, { wire, training });
        this.known = new Map(); // figures, by model and data and the time of the model
    }

    async offer(state) {
        const rows = [];
        for (const model of state.models) {
            rows.push(await this.#row(model, state));
        }
        const headings = ["model", "kind", "correct", "parameters", "flash", "SRAM", "response", ""];
        fill(find("#rows"), rows.length ? "One row for each model in the folder" : "There is no model yet", headings, rows);
    }

    async #row(model, { built }) {
        if (model.error) {
            return [model.name, model.error];
        }
        const points = this.training.points;
        const key = `${model.name} ${model.at} ${points} ${JSON.stringify(this.training.read)}`;
        if (points && !this.known.has(key)) {
            this.known.set(key, await this.wire.ask("figures", { model: model.name, points, ...this.training.read }, true));
        }
        const found = this.known.get(key);
        const correct = found?.facts?.[0]?.join(" ");
        const build = built.find(({ sha256 }) => sha256 === model.sha256);
        const show = () => this.training.show(model.name, points);
        const button = make("button", { type: "button", click: show, "aria-label": `Figures of ${model.name}` }, "Figures");
        const bytes = (value) => (value ? `${number(value)} B` : null);
        const response = build?.response ? `${((1000 * build.response.cycles) / 16e6).toFixed(1)} ms` : null;
        return [model.name, model.kind, correct, bytes(model.bytes), bytes(build?.flash_bytes), bytes(build?.sram_bytes), response, button];
    }
}

export class Report {
    constructor(wire, recording, training) {
        Object.assign(this, { wire, recording, training });
        this.form = find("#reporting");
        this.action = new ActionForm(this.form, wire, () => this.#steps());
        this.action.press("open", () => this.#open());
        wire.on("job", ({ job }) => {
            const written = { data: "data.html", report: "report.html" }[job.action];
            if (written && job.state === "done") {
                this.form.elements.page.value = written;
                this.form.elements.page.dataset.chosen = written; // once it is offered
            }
        });
    }

    offer(state) {
        const of = (...kinds) =>
            kinds.flatMap((kind) => state.files.filter((file) => file.kind === kind).map(({ name }) => name));
        offer(this.form.elements.model, usableModels(state), "train a model first");
        offer(this.form.elements.points, of("points", "table", "images"), "train a model first");
        offer(this.form.elements.page, of("page"), "none yet");
        this.action.renew();
    }

    #steps() {
        const { model, points } = fieldsOf(this.form);
        const read = points === this.training.points ? this.training.read : {};
        const common = { points, ...read, project: "measured", results: "results.csv" };
        const { port, emulated, board } = this.recording.source();
        const upload = emulated ? [] : [["upload", { ...common, port }]];
        return [
            ["build-points", { ...common, model, board }],
            ...upload,
            ["measure", { ...common, port, emulated, board }],
            ["report", common],
        ];
    }

    async #open() {
        const answer = await this.wire.order("show", { name: this.form.elements.page.value });
        if (answer) {
            window.open(answer.address, "_blank", "noopener");
        }
    }
}
