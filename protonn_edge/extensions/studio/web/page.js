/* The studio's page. The folder is the state: whenever something changes, the page asks for it again. */
import { Board } from "/board.js";
import { Data } from "/data.js";
import { Drawer } from "/drawer.js";
import { all, find, say } from "/parts.js";
import { Report } from "/report.js";
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
        this.chosen = JSON.parse(sessionStorage.getItem(MEMORY) ?? "{}");
        this.bar = new Bar(NAMES);
        this.drawer = new Drawer(NAMES);
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

    /** Choose what the page shows; a model is chosen for its data. */
    choose(chosen) {
        const memory = JSON.stringify({ ...this.chosen, ...("data" in chosen ? { model: undefined } : {}), ...chosen });
        sessionStorage.setItem(MEMORY, memory);
        this.chosen = JSON.parse(memory); // in which nothing is undefined
        return this.renew();
    }

    /** What a point of the data is for people. */
    get point() {
        return this.state.point;
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
        this.job = { ...state.job, running: state.job.state === "running" || state.job.last === false };
        find("#folder").textContent = state.folder;
        this.show();
        this.ready = true;
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
        this.bar.show(this.state.stages, this.job, this.current);
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
        wire.on("job", ({ job }) => this.#hearJob(job));
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
        find("#files").addEventListener("change", ({ target }) => this.drop(target.files));
        addEventListener("dragover", (event) => event.preventDefault());
        addEventListener("drop", (event) => {
            event.preventDefault();
            const { files, items } = event.dataTransfer; // none of a take that was dragged past the rows
            const folder = [...items].map((one) => one.webkitGetAsEntry()).find((one) => one?.isDirectory);
            if (folder) {
                this.stages[this.current].fail(`${folder.name} is a folder; copy it into the folder ${this.state.folder}, and come back to this page.`);
            } else if (files.length) {
                this.drop(files);
            }
        });
        addEventListener("focus", () => this.soon()); // other programs change the folder, too
        document.addEventListener("keydown", (event) => this.#key(event));
    }

    #hearJob(job) {
        const ended = job.state !== "running";
        if (job.state === "failed") {
            const { sentence, error, fits } = job.record ?? {};
            const helps = fits === false ? this.stages.train.smaller() : [];
            this.stages[job.stage]?.fail(sentence ?? error ?? "It failed without a reason.", ...helps);
        }
        if (job.state === "stopped") {
            this.stages[job.stage]?.remark(job.record?.sentence ?? "stopped");
        }
        if (!ended || !job.last) {
            this.job = { ...job, running: true };
            this.stages[job.stage]?.showActions();
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

    /** Add files to the folder, then show the stage that uses them. */
    async drop(files) {
        const [given, added] = [[...files], []];
        find("#files").value = ""; // the same file can be chosen again
        for (const file of given) {
            const answer = await this.wire.drop(file);
            if (answer.error) {
                const isNamed = answer.error.startsWith(`${file.name}:`);
                this.stages[this.current].fail(isNamed ? answer.error : `${file.name}: ${answer.error}`);
                return;
            }
            added.push(answer.name);
        }
        await this.renew();
        const broken = added.map((name) => this.file(name)?.error).find(Boolean);
        const model = added.find((name) => this.state.models.some((one) => one.name === name));
        const usable = ["recording", "takes", "table", "images", "points"];
        const data = added.find((name) => usable.includes(this.file(name)?.kind));
        if (data) {
            await this.choose({ data });
            this.go("data");
        } else if (broken) {
            this.stages[this.current].fail(broken);
        } else if (model) {
            await this.choose({ model });
            this.go("train");
        } else if (added.some((name) => this.state.source.plays.includes(name))) {
            await this.choose({ source: { ...this.chosen.source, emulated: true, play: added.at(-1) } });
            const play = `${added.join(", ")}: a sensor can play ${added.length > 1 ? "them" : "it"} now.`;
            const learn = `To train with sounds, put them into folders that are named after their classes, and copy the folder with these into ${this.state.folder}.`;
            this.stages[this.current].remark(`${play} ${learn}`); // below the dialog
            this.source.open();
        } else {
            this.stages[this.current].remark(`${added.join(", ")} is in the folder, but holds nothing to train with.`);
        }
    }

    #key(event) {
        const typing = event.target.matches("input:not([type=radio], [type=checkbox]), select, textarea");
        if (event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) {
            return;
        }
        if (event.key === "Escape") {
            if (!this.stages[this.current].close?.() && this.job.running) {
                this.wire.order("stop");
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
