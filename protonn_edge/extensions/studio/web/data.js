/* The data: the live curve, and a row of takes for each class; or the columns of a table. */
import { Editor } from "/editor.js";
import { bold, button, counted, curve, find, key, led, make, meter, number, offer, renew, say, seconds, small, unseen } from "/parts.js";
import { Scope } from "/scope.js";
import { Stage } from "/stage.js";
import { Columns } from "/table.js";

const KEYS = 9;
const ABOVE = 0.24; // of the height of the curve, for words
const WANTED = 3; // takes of a class
const MANY = 6; // classes, of which the rows are lower
const LENGTHS = [["1", "1 s"], ["2", "2 s"], ["5", "5 s"], ["", "until I end them"]];
const PAUSES = [["0", "0 s"], ["1", "1 s"], ["3", "3 s"]];
const OTHER = "+";

export class Data extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.scope = new Scope(find("#record"), { above: ABOVE });
        this.editor = new Editor(this);
        this.columns = new Columns(studio);
        offer(find("#seconds"), LENGTHS, "2");
        offer(find("#pause"), PAUSES, "1");
        find("#person").addEventListener("change", () => this.#people());
        find("#take-end").addEventListener("click", () => this.end("end"));
        find("#take-discard").addEventListener("click", () => this.end("discard"));
        find("#undo").addEventListener("click", () => this.undo());
        find("#data-file").addEventListener("change", ({ target }) => {
            this.fail("");
            studio.choose({ data: target.value });
        });
        this.wire.on("samples", (message) => this.#hear(message));
        this.wire.on("take", ({ take }) => this.#count(take));
        this.wire.on("taken", ({ taken }) => this.#taken(taken));
        this.wire.on("stream", () => this.#showStream());
    }

    // --- the state ---

    async show() {
        const { studio } = this;
        super.show();
        this.#showStream();
        const names = studio.files("recording", "takes", "table", "images", "points").filter(({ source }) => !source).map(({ name }) => name);
        find("#data-choice").hidden = names.length < 2;
        offer(find("#data-file"), names.map((name) => [name, name]), studio.state.data);
        const kind = this.#isFresh ? undefined : this.facts.reading ? "" : studio.data?.kind;
        find("#takes").hidden = kind !== undefined && !studio.isOfSamples;
        find("#table").hidden = kind !== "table";
        find("#whole").hidden = !["points", "images"].includes(kind);
        if (kind === "table") {
            this.columns.show(this.facts);
        } else if (kind && studio.isOfSamples) {
            await this.#askTakes(studio.state.data);
        } else if (kind) {
            this.#showWhole();
        } else {
            this.recording = null;
            this.#showRows();
        }
    }

    /** Lead to what the table does not state. */
    async perform() {
        this.columns.ask(this.facts.asks);
    }

    get takes() {
        return this.recording?.takes ?? [];
    }

    get labels() {
        return [...new Set(this.takes.map(({ label }) => label))];
    }

    async #askTakes(name) {
        const found = await this.studio.ask("takes", { recording: name });
        if (!found) {
            return;
        }
        if (this.#isLive && this.take?.kept && name === this.recording?.name) {
            return; // the file has the samples of the take that grows, too: see `#count`
        }
        if (found.error) {
            this.fail(found.error);
            return;
        }
        if (found.version !== this.recording?.version || name !== this.recording?.name) {
            this.recording = { ...found, name };
            this.editor.renewed();
            this.studio.stages.train.show(); // takes bound how long a window can be
        }
        this.#showRows();
    }

    /** Change a take, or undo the last change. */
    edit(action, fields = {}) {
        const { name, version } = this.recording;
        return this.order("run", { steps: [[action, { recording: name, ...fields }]], recording: name, version });
    }

    undo() {
        if (!find("#undo").hidden) {
            this.edit("undo");
        }
    }

    // --- the stream ---

    async connect() {
        this.pressed = true;
        await this.studio.source.connect(this, { kind: "logger" });
    }

    get #isLive() {
        const { running, rate, kind } = this.studio.state.stream;
        return Boolean(running && rate && kind === "logger");
    }

    /** Whether a recording begins beside other data, such as the file that the sensor plays. */
    get #isFresh() {
        return this.#isLive && !this.studio.isOfSamples;
    }

    #taken(taken) {
        this.kept = taken;
        if (taken && this.studio.data && !this.studio.isOfSamples) {
            this.studio.choose({ data: "recording.csv" });
        }
    }

    #showStream() {
        const live = this.#isLive;
        if (live) {
            this.scope.begin(this.studio.state.stream);
        }
        const { data } = this.studio;
        const samples = !data || (this.studio.isOfSamples && this.#isOwn) || live;
        find("#how").hidden = !samples && !this.recording?.undo?.length;
        find("#live").hidden = !samples;
        find("#record").hidden = !live;
        find("#live .under").hidden = !live;
        this.studio.source.showOffline(find("#live .offline"), live, "logger", () => this.connect());
        if (live !== this.wasLive) {
            this.wasLive = live;
            this.show(); // whose buttons record
        }
        this.#showTake();
    }

    #hear(message) {
        if (this.studio.state.stream.kind !== "logger") {
            return;
        }
        this.scope.add(message);
        this.#count(message.take);
        const { lost, damaged, resets } = message;
        const troubles = [lost && `${counted(lost, "sample")} lost`, damaged && `${counted(damaged, "frame")} damaged`, resets && counted(resets, "reset")];
        find("#losses").textContent = troubles.filter(Boolean).join(", ") || "no sample lost";
    }

    // --- a take ---

    get person() {
        const { value } = find("#person");
        return value === OTHER ? find("#new-person").value.trim() || "someone" : value;
    }

    begin(label) {
        if (this.take || !label) {
            return;
        }
        const [length, pause] = ["#seconds", "#pause"].map((id) => find(id).value);
        this.order("order", { what: "begin", label, session: this.person, seconds: length || undefined, pause });
    }

    end(what) {
        this.order("order", { what });
    }

    #count(take) {
        const began = Boolean(take) !== Boolean(this.take) || take?.label !== this.take?.label;
        this.take = take;
        if (take?.kept) {
            this.scope.mark([this.scope.at - take.kept, this.scope.at]);
        } else {
            this.scope.mark(null);
        }
        if (began) {
            this.#showRows();
        }
        this.#showTake();
        if (began) {
            this.studio.showBar();
        }
        if (began && !take) {
            this.studio.soon(); // for the takes that the file has now
        }
    }

    #showTake() {
        const { take } = this;
        const { rate } = this.scope;
        const recording = Boolean(take?.kept);
        find("#record").classList.toggle("rec", recording);
        find("#record .led").className = `led ${recording ? "rec" : "on"}`;
        const [what, how] = this.#words(take, rate);
        say(find("#take-what"), what);
        find("#take-how").textContent = how;
        ["#take-end", "#take-discard"].forEach((id) => (find(id).hidden = !take));
        const bar = find("#record progress");
        bar.hidden = !take?.wanted;
        Object.assign(bar, { max: take?.wanted || 1, value: take?.kept ?? 0 });
        this.known.live = take && `${take.kept ? "recording" : "get ready:"} ${take.label}`;
    }

    #words(take, rate) {
        if (take?.kept) {
            const of = take.wanted ? ` of ${(take.wanted / rate).toFixed(1)}` : "";
            return [`Recording ${take.label}`, `${(take.kept / rate).toFixed(1)}${of} s, by ${this.person}`];
        }
        if (take) {
            return [`Get ready: ${take.label}`, `begins in ${take.countdown.toFixed(1)} s`];
        }
        if (this.kept) {
            const n = this.takes.filter(({ label }) => label === this.kept.label).length;
            return [`Take ${Math.max(1, n)} of ${this.kept.label} is kept`, "move on with the next one"];
        }
        return ["Live", this.studio.source.known.emulated ? "the emulated board plays recorded samples" : "move the board: the curve should move, too"];
    }

    // --- the rows ---

    #people() {
        const names = [...new Set(this.takes.map(({ session }) => session).filter(Boolean))];
        const known = names.length ? names : ["me"];
        const select = find("#person");
        const chosen = select.dataset.chosen && select.options.length ? select.value : (this.takes.at(-1)?.session ?? known[0]);
        select.dataset.chosen = "yes";
        offer(select, [...known.map((name) => [name, name]), [OTHER, "another person …"]], chosen);
        find("#new-person").hidden = select.value !== OTHER;
    }

    #showRows() {
        this.#people();
        const undo = this.recording?.undo?.[0];
        const undoing = find("#undo") === document.activeElement;
        find("#undo").hidden = !undo;
        find("#undo").replaceChildren(`Undo: ${undo}`, key("u"));
        if (undoing && !undo) {
            this.title.focus();
        }
        const { labels } = this;
        const now = this.take?.label;
        const every = now && !labels.includes(now) ? [...labels, now] : labels;
        this.names = every;
        const rows = every.flatMap((label, at) => {
            const row = this.#row(label, at, label === now);
            return this.editor.label === label ? [row, this.editor.element] : [row];
        });
        const list = find("#rows");
        const { scrollLeft } = list;
        list.classList.toggle("many", every.length > MANY);
        const typed = find("#new-class")?.value ?? "";
        renew(list, ...rows, this.#isOwn && this.#newRow(typed, every.length));
        list.scrollLeft = scrollLeft;
        this.editor.placed();
    }

    #row(label, at, recording) {
        const takes = this.takes.map((take, place) => ({ ...take, number: place + 1 })).filter((one) => one.label === label);
        const missing = WANTED - takes.length;
        const state = missing > 0 ? `${counted(takes.length, "take")}, ${missing} to go` : counted(takes.length, "take");
        const { sampled } = this.studio.data ?? {}; // then no take is a button
        const strip = make("ul", { class: "strip-of", tabindex: sampled ? 0 : undefined, "aria-label": `Takes of ${label}` }, ...takes.map((take, place) => this.#thumb(take, place)));
        const heading = make("h2", {}, label, small(missing > 0 ? "" : make("span", { class: "tick" }, "✓ "), state));
        const row = make("li", { class: recording ? "now" : missing > 0 ? "next" : "" }, heading, strip, this.#isOwn && this.#recorder(label, at, recording));
        row.addEventListener("dragover", (event) => event.preventDefault());
        row.addEventListener("drop", (event) => this.#drop(event, label));
        return row;
    }

    #thumb(take, place) {
        const long = this.recording.rate ? seconds(take.n / this.recording.rate) : `${number(take.n)} samples`;
        const open = this.editor.number === take.number;
        const press = () => (open ? this.editor.close() : this.editor.open(take.number));
        const attributes = {
            class: "thumb",
            draggable: "true",
            "aria-expanded": `${open}`,
            "data-key": `take ${take.number}`,
            dragstart: ({ dataTransfer }) => dataTransfer.setData("text/take", `${take.number}`),
        };
        const words = make("span", {}, unseen(`Edit take ${place + 1} of ${take.label}: `), take.session ?? "", make("i", {}, long));
        const drawn = [curve(take.curves, this.recording.scales), words];
        const { sampled } = this.studio.data ?? {}; // its files have other samples, which no edit can name
        return make("li", {}, sampled ? make("div", { class: "thumb" }, ...drawn) : button(drawn, press, attributes));
    }

    #drop(event, label) {
        const take = event.dataTransfer.getData("text/take");
        if (take) {
            event.preventDefault();
            event.stopPropagation();
            this.edit("rename", { take, label });
        }
    }

    #recorder(label, at, recording) {
        if (recording) {
            return button([led("rec"), "End", key("e")], () => this.end("end"), { class: "recorder", "data-key": `record ${label}` });
        }
        const sign = at < KEYS ? key(`${at + 1}`) : null;
        return button([led(), "Record", unseen(` a take of ${label}`), sign], () => this.begin(label), {
            class: "recorder",
            disabled: !this.canRecord,
            "data-key": `record ${label}`,
        });
    }

    /** Whether a sensor that boards have took the samples: those of a phone do not grow here. */
    get #isOwn() {
        const { data } = this.studio;
        return data?.kind !== "takes" || data.sensors?.some((name) => this.studio.state.sensors.some((one) => one.name === name));
    }

    get canRecord() {
        return this.#isLive && !this.take;
    }

    #newRow(typed, others) {
        const record = () => {
            const label = field.value.trim();
            field.value = "";
            this.begin(label);
        };
        const field = make("input", {
            type: "text",
            id: "new-class",
            placeholder: "New class",
            "aria-label": "Name of a new class",
            "data-key": "new class",
            autocomplete: "off",
            keydown: (event) => event.key === "Enter" && record(),
        });
        field.value = typed;
        const first = others === 0 && this.canRecord && !this.studio.data;
        const hint = make("span", { class: "note wide-only" }, "such as wave, or nothing: what it shall not mistake");
        const press = button([led(), "Record", unseen(" a take of the new class")], record, {
            class: `recorder ${first ? "primary" : ""}`,
            disabled: !this.canRecord,
            "data-key": "record new",
        });
        return make("li", { class: "new" }, field, hint, press);
    }

    // --- points and images, which have no rows ---

    #showWhole() {
        const { data } = this.studio;
        const names = Object.entries(data.classes ?? {});
        const most = Math.max(1, ...names.map(([, n]) => n || 0));
        const rows = names.map(([name, n]) =>
            make("div", {}, make("dt", {}, name), make("dd", {}, n ? bold(number(n)) : ""), n ? meter(n / most) : null),
        );
        const { n_train: train, n_test: test, window } = data;
        const of = window ? `Each point is a window of ${window} samples.` : "";
        const words = train ? `${number(train)} points to learn from, ${number(test ?? 0)} for the test. ${of}` : of;
        find("#whole").replaceChildren(make("h2", { class: "sub" }, names.length ? counted(names.length, "class", "classes") : ""), make("dl", { class: "limits wide" }, ...rows), make("p", { class: "note" }, words));
    }

    // --- keys ---

    key(name) {
        if (name === "e" || name === "x") {
            this.end(name === "e" ? "end" : "discard");
        } else if (name === "u") {
            this.undo();
        } else if (this.names?.[+name - 1]) {
            this.begin(this.names[+name - 1]);
        }
    }

    /** Close the editor; returns whether it was open. */
    close() {
        return this.editor.close();
    }
}
