/* A stage: its head with a sentence and the one primary action, which is also where its job shows. */
import { all, bold, button, counted, find, key, make, notice, renew, say } from "/parts.js";

const EDITS = ["keep", "cut", "rename", "delete", "undo"]; // which end at once, and show as takes
const DOING = {
    logger: "Building the logger",
    "upload-logger": "Uploading the logger",
    windows: "Cutting the takes into windows",
    train: "Training",
    build: "Building for the board",
    "build-points": "Building for the board",
    upload: "Uploading to the board",
    measure: "Measuring on the board",
    report: "Writing the report",
    export: "Writing the library",
};
const LEFT_FROM_S = 2; // a shorter time does not foretell the rest

export class Stage {
    constructor(studio, name) {
        Object.assign(this, { studio, wire: studio.wire, name });
        this.section = find(`#stage-${name}`);
        this.title = find("h1", this.section);
        this.lead = find(".lead", this.section);
        this.act = find(".act", this.section);
        this.alert = find(".alert", this.section);
    }

    /** What the folder's files mean for this stage. */
    get known() {
        return this.studio.state.stages[this.name] ?? {};
    }

    get facts() {
        return this.known.facts ?? {};
    }

    get isShown() {
        return !this.section.hidden;
    }

    /** Whether a job of this stage runs, that is shown at its button. */
    get job() {
        const { job, behind } = this.studio;
        return [job, behind].find(({ stage, running, action }) => stage === this.name && running && !EDITS.includes(action)) ?? null;
    }

    /** Show what the folder's files mean for this stage. */
    show() {
        const { lead = [], says, mark } = this.known;
        const waits = mark === "none" && `This stage waits for the one before${says ? `: ${says}` : ""}.`;
        say(this.lead, ...(lead.length || !waits ? sentence(lead) : [waits]));
        this.showActions();
        this.showNotices();
    }

    /** Begin to be shown. */
    enter() {}

    // --- the primary action ---

    showActions() {
        const { job } = this;
        const { activeElement } = document;
        const waited = (this.bar && !job) || this.awaits; // for the end, or for data that are read
        const rests = waited && this.isShown && [this.title, document.body].includes(activeElement);
        const inside = this.act.contains(activeElement) || rests;
        if (job) {
            this.#showJob(job);
        } else {
            this.bar = null;
            renew(this.act, ...this.actions());
        }
        const place = find(job ? "button" : ".primary:enabled", this.act);
        if ((inside || this.pressed) && !this.act.contains(document.activeElement)) {
            place?.focus();
        }
        this.pressed = false;
        this.awaits &&= !place;
    }

    /** The buttons while no job runs: the next step, and quietly the step of before. */
    actions() {
        const { next, again, mark } = this.known;
        const first = mark === "none" && this.studio.waitsFor(this.name);
        if (first && !next) {
            return [this.#button({ text: `Go to ${first.title.textContent}`, go: first.name }, "primary")];
        }
        return [this.#button(next, "primary"), this.#button(again, "quiet")].filter(Boolean);
    }

    #button(action, kind) {
        return action && button(action.text, () => this.press(action), {
            class: kind,
            disabled: action.ready === false,
            title: action.ready ? undefined : action.why,
            "data-key": kind,
        });
    }

    /** Go to the stage of an action, and run its commands. */
    async press({ run, go }) {
        this.fail("");
        const stage = this.studio.stages[go ?? this.name];
        this.studio.go(go ?? this.name);
        if (run) {
            await stage.perform(run);
        }
    }

    /** Run the action of this stage. */
    async perform() {}

    /** Run commands as the job of this stage. */
    async run(steps, more = {}) {
        this.pressed = true;
        return this.order("run", { steps, ...more });
    }

    /** Order something; if it is refused, or fails later, the reason stands in this stage. */
    async order(name, fields = {}) {
        this.fail("");
        const answer = await this.wire.order(name, { stage: this.name, ...fields });
        if (answer.error) {
            this.fail(answer.error);
        }
        return answer.error ? null : answer;
    }

    #showJob(job) {
        if (!this.bar) {
            this.bar = make("progress", { max: 1, "aria-label": this.known.next?.text ?? DOING[job.action] ?? this.name });
            this.said = make("span", { role: "status" });
            const stop = button(["Stop", key("Esc")], () => this.wire.order("stop", { behind: this.job?.behind }), { "aria-keyshortcuts": "Escape" });
            this.act.replaceChildren(make("div", { class: "job" }, this.bar, this.said, stop));
            this.begun = {};
        }
        this.bar.value = Math.max(job.part ?? 0, 0.01);
        say(this.said, this.#doing(job));
    }

    /** Words for what a job does: the task, how far, and how long it takes still. */
    #doing({ number, action, progress, waits }) {
        const doing = this.doing?.(action) || (DOING[action] ?? action);
        const words = waits ? `${doing} when it is built` : doing;
        const { done, total } = progress ?? {};
        if (!total) {
            return words;
        }
        const id = `${number} ${action} ${total}`;
        if (this.begun.id !== id) {
            this.begun = { id, at: performance.now(), done };
        }
        const passed = (performance.now() - this.begun.at) / 1000;
        const left = ((total - done) * passed) / (done - this.begun.done || Infinity);
        const wait = passed > LEFT_FROM_S && left > 0 && isFinite(left) ? `; ${Math.ceil(left)} s left` : "";
        return `${words}, ${done.toLocaleString("en")} of ${total.toLocaleString("en")}${wait}`;
    }

    // --- notices and errors ---

    showNotices() {
        const notices = this.known.notices ?? [];
        const place = find(".warnings", this.section);
        const warnings = notices.filter(({ warning }) => warning);
        const shown = warnings.map((one) => `${one.text}`).join("\n");
        if (place && place.dataset.shown !== shown) {
            place.dataset.shown = shown;
            place.replaceChildren(...warnings.map((one) => notice(one.text, { helps: this.helpsFor(one) })));
        }
        const notes = find(".notes", this.section);
        if (notes) {
            const rest = notices.filter(({ warning }) => !warning);
            notes.hidden = !rest.length;
            find("summary", notes).textContent = counted(rest.length, "note");
            find("ul", notes).replaceChildren(...rest.map(({ text }) => make("li", {}, text)));
        }
    }

    /** Buttons that help with a notice. */
    helpsFor() {
        return [];
    }

    /** Say under the head what was noticed about a stream. */
    remark(sentence, ...helps) {
        this.fail("");
        this.alert.replaceChildren(notice(sentence, { helps }));
    }

    /** Say under the head what went wrong, with buttons that help; nothing if it is empty. */
    fail(sentence, ...helps) {
        const wires = /wires|cannot find its/.test(sentence) && this.name !== "board";
        const known = wires ? [button("Show the wires", () => this.studio.go("board"))] : [];
        this.alert.replaceChildren(...(sentence ? [notice(sentence, { error: true, helps: [...helps, ...known] })] : []));
        if (sentence && this.isShown) {
            this.alert.scrollIntoView({ block: "nearest" });
        }
    }
}

/** Pieces of a sentence, of which every second is a name. */
export const sentence = (pieces) => pieces.map((piece, at) => (at % 2 ? bold(piece) : piece));

/** The bar of the stages, with a mark, and a line of what each one has. */
export class Bar {
    static #MARKS = { done: "✓", warn: "!", old: "↻", live: "●" };
    static #WORDS = {
        done: "done",
        warn: "done, with a warning",
        old: "older than the data",
        live: "running",
        ready: "ready",
        none: "needs the stage before",
        busy: "running",
    };

    constructor(names) {
        const items = Object.entries(names).map(([name, title], at) => {
            const link = make(
                "a",
                { href: `#${name}`, "data-stage": name, "data-number": at + 1 },
                make("span", { class: "mark", "aria-hidden": "true" }, `${at + 1}`),
                make("b", {}, title),
                make("span", { class: "unseen" }),
                make("small"),
            );
            return make("li", {}, link);
        });
        find("#stages").replaceChildren(...items);
    }

    show(stages, jobs, current) {
        for (const link of all("#stages a")) {
            const name = link.dataset.stage;
            const job = jobs.find(({ running, stage }) => running && stage === name) ?? {};
            const busy = Boolean(job.running);
            const { mark = "none", says = "", live } = stages[name] ?? {};
            const kind = busy ? "busy" : live ? "live" : mark;
            const part = Math.round(100 * (job.part ?? 0));
            const line = busy ? (job.behind ? "being checked" : "running") : live || says;
            link.className = kind;
            link.style.setProperty("--part", `${part}%`);
            link.toggleAttribute("aria-current", false);
            if (name === current) {
                link.setAttribute("aria-current", "step");
            }
            find(".mark", link).textContent = busy ? part : (Bar.#MARKS[kind] ?? link.dataset.number);
            find(".unseen", link).textContent = `: ${Bar.#WORDS[kind]}${line && !busy ? ", " : ""}`;
            find("small", link).textContent = line;
        }
    }
}
