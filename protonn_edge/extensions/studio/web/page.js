/* The studio's page. The folder is the state: whenever something changes, the page asks for it again. */
import { Board } from "/board.js";
import { Data } from "/data.js";
import { Drawer } from "/drawer.js";
import { all, button, find, make, say } from "/parts.js";
import { Report } from "/report.js";
import { filesOf, Sheet } from "/sheet.js";
import { Source } from "/source.js";
import { Bar } from "/stage.js";
import { Start } from "/start.js";
import { Train } from "/train.js";
import { Try } from "/try.js";
import { Wire } from "/wire.js";

const CALM_MS = 80;
const NAMES = { data: "Data", train: "Train", try: "Try", board: "Board", report: "Report" };
const MEMORY = "chosen"; // of this tab: which file, model and columns were chosen

class Studio {
    constructor() {
        this.wire = new Wire();
        this.state = { stages: {}, files: [], models: [], boards: [], log: [], sensors: [], source: { sensors: [], plays: [], ports: [] }, job: {}, stream: {} };
        this.job = {};
        this.asked = {}; // the latest questions, by their names
        this.behind = {}; // the build that goes on while the page is used
        this.chosen = JSON.parse(sessionStorage.getItem(MEMORY) ?? "{}");
        this.bar = new Bar(NAMES);
        this.drawer = new Drawer(NAMES);
        this.sheet = new Sheet(this);
        this.stages = {};
        this.#listen(); // first, since stages show what it keeps
        const made = { start: Start, data: Data, train: Train, try: Try, board: Board, report: Report };
        for (const [name, Made] of Object.entries(made)) {
            this.stages[name] = new Made(this, name);
        }
        this.source = new Source(this);
    }

    /** The files of kinds. */
    files(...kinds) {
        return this.state.files.filter(({ kind }) => kinds.includes(kind));
    }

    file(name) {
        return this.state.files.find((one) => one.name === name);
    }

    /** The facts of the data, the model and the project in use; undefined without one. */
    get data() {
        return this.file(this.state.data);
    }

    get model() {
        return this.state.models.find(({ name }) => name === this.state.model);
    }

    /** Whether the data are samples in time, which are cut into windows. */
    get isOfSamples() {
        return ["recording", "takes"].includes(this.data?.kind);
    }

    /** Whether samples for the model come from a sensor of a board. */
    get isLive() {
        const { data, model, state } = this;
        return this.isOfSamples && Boolean(data.sensors?.length || model?.sensors?.length || state.stream.running);
    }

    /** Choose what the page shows; a model is chosen for its data. */
    choose(chosen) {
        const memory = JSON.stringify({ ...this.chosen, ...("data" in chosen ? { model: undefined } : {}), ...chosen });
        sessionStorage.setItem(MEMORY, memory);
        this.chosen = JSON.parse(memory); // in which nothing is undefined
        return this.renew();
    }

    /** How the table in use is read, in fields of actions; what was just chosen is ahead of the state. */
    get read() {
        return { ...this.state.read, ...this.chosen.read?.[this.state.data] };
    }

    chooseRead(read) {
        return this.choose({ read: { ...this.chosen.read, [this.state.data]: { ...this.read, ...read } } });
    }

    // --- the state ---

    async renew() {
        clearTimeout(this.timer);
        const { data, model } = this.chosen;
        const asked = (this.asking = this.wire.ask("state", { data, model, read: this.chosen.read?.[data ?? this.state.data] }));
        const state = await asked;
        if (asked !== this.asking) {
            await this.#newest(); // of a later question
            return;
        }
        this.asking = null;
        if (state.error) {
            return;
        }
        this.state = state;
        for (const name of ["job", "behind"]) {
            this[name] = { ...state[name], running: state[name].state === "running" || state[name].last === false };
        }
        find("#folder").textContent = state.folder;
        find("#packing").hidden = state.start;
        this.show();
        this.ready = true;
    }

    /** Ask about the data and the model in use; undefined if these are others, or more is asked, when the answer comes. */
    async ask(name, fields) {
        const { data, model } = this.state;
        const asked = (this.asked[name] = {});
        const found = await this.wire.ask(name, fields);
        return asked === this.asked[name] && data === this.state.data && model === this.state.model ? found : undefined;
    }

    async #newest() {
        const { asking } = this;
        await asking;
        if (asking !== this.asking) {
            await this.#newest();
        }
    }

    soon() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.renew(), CALM_MS);
    }

    show() {
        this.#route();
        Object.values(this.stages).forEach((stage) => stage.show());
        this.source.show();
        this.showBar();
    }

    showBar() {
        this.bar.show(this.state.stages, [this.job, this.behind], this.current);
        this.drawer.show(this.state.log, this.job);
    }

    // --- the stage that is shown ---

    go(name) {
        if (location.hash !== `#${name}`) {
            history.pushState(null, "", `#${name}`);
        }
        this.#route();
    }

    /** The stage that another one waits for: the last one before that has something. */
    waitsFor(name) {
        const names = Object.keys(NAMES);
        const before = names.slice(0, names.indexOf(name)).reverse();
        return this.stages[before.find((one) => (this.state.stages[one]?.mark ?? "none") !== "none")];
    }

    #route() {
        const asked = location.hash.slice(1);
        const { stages, start } = this.state;
        const next = Object.keys(NAMES).find((name) => ["ready", "old", "warn"].includes(stages[name]?.mark)) ?? "data";
        const name = this.stages[asked] ? asked : (this.current ?? (start ? "start" : next));
        if (name === this.current) {
            return;
        }
        const before = this.current;
        this.current = name;
        Object.values(this.stages).forEach((stage) => (stage.section.hidden = stage.name !== name));
        document.title = `${NAMES[name] ?? "Start"} · ${this.state.folder} · protonn-edge studio`;
        if (before) {
            scrollTo(0, 0);
            this.stages[name].title.focus({ preventScroll: true });
            this.showBar();
        }
        this.stages[name].enter();
    }

    // --- messages and keys ---

    #listen() {
        const { wire } = this;
        wire.on("job", ({ job }) => this.#hearJob("job", job));
        wire.on("behind", ({ behind }) => this.#hearJob("behind", behind));
        wire.on("changed", () => this.soon());
        wire.on("stream", ({ stream }) => {
            this.state.stream = stream;
            this.source.show();
            if (this.asking) {
                this.soon(); // the answer on its way may be older
            }
        });
        wire.on("warning", ({ warning, stage, error }) => {
            const place = this.stages[stage ?? this.current];
            if (error === false) {
                place?.remark(warning);
            } else {
                place?.fail(warning);
            }
        });
        wire.on("connected", ({ connected }) => {
            this.#unreachable(connected ? "" : "The studio does not answer; trying again.");
            if (connected) {
                this.soon();
            }
        });
        wire.on("refused", ({ refused }) => this.#unreachable(refused));
        addEventListener("hashchange", () => (location.hash.length > 20 ? location.reload() : this.#route())); // a new address
        addEventListener("popstate", () => this.#route());
        find(".skip").addEventListener("click", (event) => {
            event.preventDefault();
            find("#main").focus();
        });
        find("#pack").addEventListener("click", async () => {
            const saved = await this.stages[this.current].order("pack");
            if (saved) {
                make("a", { href: saved.address, download: saved.name }).click();
            }
        });
        for (const id of ["#files", "#folders"]) {
            find(id).addEventListener("change", async ({ target }) => {
                await this.bring({ files: target.files });
                target.value = ""; // the same file can be chosen again
            });
        }
        addEventListener("dragover", (event) => {
            event.preventDefault();
            find("#dropping").hidden = ![...event.dataTransfer.items].some(({ kind }) => kind === "file");
        });
        addEventListener("dragleave", ({ relatedTarget }) => (find("#dropping").hidden ||= !relatedTarget));
        addEventListener("drop", (event) => {
            event.preventDefault();
            find("#dropping").hidden = true;
            const { items, files } = event.dataTransfer;
            if ([...items].some(({ kind }) => kind === "file")) { // none of a take that was dragged past the rows
                this.bring({ items, files });
            }
        });
        addEventListener("focus", () => this.soon()); // other programs change the folder, too
        document.addEventListener("keydown", (event) => this.#key(event));
    }

    /** Show what was dropped or chosen, before anything is kept; in Try, the model answers to it. */
    async bring(given) {
        const files = await filesOf(given);
        const { held } = this.stages.try;
        await (this.current === "try" && this.model ? held.answer(files) : this.sheet.open(files));
    }

    #hearJob(name, job) {
        const ended = job.state !== "running";
        if (job.state === "failed") {
            const { sentence, error, fits } = job.record ?? {};
            const said = sentence ?? error ?? "It failed without a reason.";
            const helps = () => (fits === false ? this.stages.train.smaller() : []);
            this.stages[job.stage]?.fail(said, ...helps());
            for (const name of job.behind ? ["train", "try"] : []) {
                this.stages[name].fail(`${fits === false ? "It answers here, but it does not fit the board: " : ""}${said}`, ...helps());
            }
        }
        if (job.state === "stopped" && !job.behind) {
            this.stages[job.stage]?.remark(job.record?.sentence ?? "stopped");
        }
        if (!ended || !job.last) {
            this[name] = { ...job, running: true };
            this.stages[job.stage]?.showActions();
            this.stages.train.showChecking();
            this.showBar();
        }
        if (ended) {
            this.stages[job.stage]?.ended?.(job);
            this.soon();
        }
    }

    #unreachable(sentence) {
        const place = find("#connection");
        say(place, sentence);
        place.hidden = !sentence;
    }

    /** Files were kept: show the stage that uses them. */
    async added({ name, chosen }, { primary, kind, unit, classes }) {
        await this.renew();
        const what = unit ? `${primary.replace("Add ", "")} added` : `${name} is in the folder`;
        const train = this.stages.train.of(name);
        if (chosen.size) {
            train.size = chosen.size;
        }
        const isData = ["recording", "takes", "table", "images", "points"].includes(this.file(name)?.kind);
        if (isData) {
            const { column, labels, target, session } = chosen;
            const read = kind === "table" ? { [name]: { column, labels, target: target ?? undefined, session } } : {};
            await this.choose({ data: name, read: { ...this.chosen.read, ...read } });
            this.go("data");
        } else if (this.state.models.some((one) => one.name === name)) {
            await this.choose({ model: name });
            this.go("train");
        }
        const few = classes.length === 1 && kind !== "table" && Object.keys(this.data?.classes ?? {}).length < 2;
        const next = few ? " One more class, then you can train: drop it here." : "";
        const undo = async () => {
            const place = this.stages[this.current];
            place.fail((await this.wire.order("unkeep")).error ?? "");
        };
        const place = this.stages[this.current];
        place.remark(make("span", { class: "done" }, `${what}.${next}`), button(unit ? `Undo: ${primary.replace("Add ", "")}` : `Undo: ${name}`, undo));
        place.title.focus();
        place.awaits = true;
        place.showActions();
    }

    #key(event) {
        const typing = event.target.matches("input:not([type=radio], [type=checkbox]), select, textarea");
        if (event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) {
            return;
        }
        if (event.key === "Escape") {
            const { behind, running } = this.stages[this.current].job ?? this.job;
            if (!this.stages[this.current].close?.() && running) {
                this.wire.order("stop", { behind });
            }
            return;
        }
        if (typing) {
            return;
        }
        const after = this.before === "g" && all("#stages a")[+event.key - 1];
        this.before = event.key;
        if (after) {
            this.go(after.dataset.stage);
        } else if (event.key === "c") {
            this.drawer.toggle();
        } else if (event.key === "?") {
            find("#keys").showModal();
        } else {
            this.stages[this.current].key?.(event.key);
        }
    }
}

window.studio = new Studio(); // for tests: what was drawn
window.studio.wire.listen();
