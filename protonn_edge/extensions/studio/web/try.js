/* Trying the model on live samples: what is answered, how sure, and "wrong?" makes a take of it. */
import { Held } from "/held.js";
import { Bars } from "/bars.js";
import { all, button, choice, find, key, labelled, make, renew, say } from "/parts.js";
import { ribbon, Scope } from "/scope.js";
import { Stage } from "/stage.js";

const SHOWN_S = 7;
const KEPT_S = 2;
const KEYS = 9;
const HOPS = [0.2, 0.5, 1];
const VOTES = [1, 3, 5];
const MOST_ANSWERS = 100;
const HERE = "here";
const REGRET_MS = 5000; // until the board forgets

export class Try extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.scope = new Scope(find(".scope", this.section), { seconds: SHOWN_S });
        this.scope.after = () => this.#ribbon();
        this.place = find("#trying .ribbon");
        this.answers = [];
        this.held = new Held(studio);
        this.bars = new Bars(studio);
        this.wire.on("samples", (message) => this.#hear(message));
        this.wire.on("answer", ({ answer }) => this.#answer(answer));
        this.wire.on("stream", () => this.#showStream());
        this.wire.on("taken", ({ taken }) => taken && this.#kept(taken));
    }

    get stream() {
        return this.studio.state.stream;
    }

    /** The samples from one answer to the next, the windows of the mean, and the marks; a sound is answered once, when it is over. */
    get pace() {
        const { chosen, data, model, stages } = this.studio;
        const { hop = 0.5, votes = 3 } = chosen;
        const rate = data?.rate || model?.rate || this.stream.rate;
        const mark = this.bars.asked;
        return stages.train.isSound ? { mark } : { hop: rate ? Math.max(1, Math.round(hop * rate)) : undefined, votes, mark };
    }

    /** Who answers; where a sound begins, only the board detects. */
    get from() {
        return this.chosenFrom ?? (this.studio.stages.train.isSound ? "board" : HERE);
    }

    /** The firmware that answers, or whose samples this computer answers to. */
    get #kind() {
        return { [HERE]: "logger", board: "live" }[this.from] ?? this.from;
    }

    show() {
        super.show();
        this.#choices();
        this.#showStream();
        if (this.isShown) {
            this.#classify();
        }
    }

    enter() {
        this.asked = "";
        this.#classify();
    }

    // --- the stream ---

    #choices() {
        const { hop = 0.5, votes = 3 } = this.studio.chosen;
        const change = (name) => (value) => this.studio.choose({ [name]: +value });
        const asks = this.from === HERE && this.pace.votes;
        const built = this.studio.files("live").length > 0;
        const here = this.studio.stages.train.isSound ? [] : [[HERE, "this computer, in the board's integers"]];
        const places = [...here, ...(built ? [["board", "the board"]] : []), ...(built && this.#teaches ? [["teaching", "the board, to teach it"]] : [])];
        renew(
            find("#answering"),
            places.length > 0 && labelled("Answers from", choice("from", places, this.from, (from) => this.#from(from))),
            asks && labelled("every", choice("hop", HOPS.map((s) => [s, `${s} s`]), hop, change("hop"))),
            asks && labelled("by the mean of", choice("votes", VOTES.map((n) => [n, n === 1 ? "1 window" : `${n} windows`]), votes, change("votes"))),
        );
    }

    get #teaches() {
        return Boolean(this.studio.model?.teachable);
    }

    async #from(from) {
        this.chosenFrom = from;
        this.answers = [];
        this.asked = "";
        await this.connect();
    }

    async connect() {
        await this.studio.source.connect(this, { kind: this.#kind, project: "live" });
        this.show();
    }

    /** Have this computer answer to the logger's samples. */
    async #classify() {
        const { stream } = this;
        const { model } = this.studio;
        if (this.from !== HERE || !model || !stream.running || stream.kind !== "logger" || !stream.rate) {
            return;
        }
        const { hop, votes, mark } = this.pace;
        const asked = JSON.stringify([model.name, model.at, hop, votes, mark, stream.kind]);
        if (asked !== this.asked && this.isShown) {
            this.asked = asked;
            this.answers = [];
            await this.order("order", { what: "classify", model: model.name, hop, votes, mark });
        }
    }

    #showStream() {
        const { stream } = this;
        const kind = this.#kind;
        const live = Boolean(stream.running && stream.rate && stream.kind === kind && !this.held.isOpen);
        if (stream.running && stream.rate) {
            this.scope.begin(stream);
            this.scope.rate = stream.rate;
        }
        this.held.show(!live);
        this.studio.source.showOffline(find("#trying .offline"), live || !this.studio.isLive, kind, () => this.connect());
        const asks = this.studio.isLive && find("#answering").childElementCount > 0;
        all("#answering, h2", find("#trying")).forEach((one) => (one.hidden = !asks));
        find(".said", this.section).hidden = !live;
        find(".scope", this.section).hidden = !live || this.from !== HERE;
        find("#trying .under").hidden = !live;
        find("#trying .key").hidden = this.from !== HERE;
        this.place.hidden = !live;
        find("#wrong").hidden = !live || this.from === "board";
        if (live) {
            this.#teachers(stream);
            if (this.from !== HERE) {
                find("#kept").textContent = stream.text; // what the board has learned
            }
            this.#classify();
        } else {
            this.asked = "";
        }
    }

    #hear(message) {
        if (this.isShown && this.stream.kind === "logger") {
            this.scope.add(message);
        }
    }

    // --- answers ---

    #answer(answer) {
        if (!this.isShown) {
            return;
        }
        const { reported, label, shares = {}, value } = answer;
        const isValue = value !== undefined && value !== null;
        const said = value ?? reported ?? label;
        this.answers.push({ ...answer, sure: isValue ? 1 : (shares[said] ?? 0) / 100 });
        this.answers.splice(0, this.answers.length - MOST_ANSWERS);
        say(find("#says"), [said, isValue && this.studio.stages.train.facts.value?.unit].filter(Boolean).join(" "));
        const built = this.from === HERE ? undefined : this.#built(Object.keys(shares));
        const words = isValue ? [] : this.bars.show(answer, built);
        const over = words.length > 1 && this.stream.rate ? `, over the last ${this.#over()} s` : "";
        find("#sure").replaceChildren(...words, over);
        if (this.from !== HERE) {
            this.scope.at = answer.first + (this.studio.model?.window ?? 0);
            this.#ribbon();
        }
    }

    /** The marks that are built into the board, of each class. */
    #built(names) {
        const { marks = [] } = this.studio.file(this.studio.state.project) ?? {};
        return names.map((_, at) => marks[at] ?? 0);
    }

    /** How long the windows of the mean last, in seconds. */
    #over() {
        const { hop = 0, votes = 1 } = this.from === HERE ? this.pace : (this.studio.file(this.studio.state.project) ?? {});
        return +((((this.studio.model?.window ?? 0) + (votes - 1) * hop) / this.stream.rate).toPrecision(2));
    }

    #ribbon() {
        const window = this.studio.model?.window ?? 0;
        const hop = this.pace.hop ?? window;
        const cells = this.answers.map(({ first, label, reported, value, sure }) => {
            const end = first + window;
            return { label: value ?? reported ?? label, sure, from: this.scope.placeOf(end - hop), to: this.scope.placeOf(end) };
        });
        ribbon(this.place, cells.filter(({ to }) => to > 0));
    }

    // --- wrong answers become takes ---

    #teachers({ classes }) {
        const every = classes?.length ? classes : (this.studio.model?.classes ?? []);
        const known = this.studio.stages.data.labels.filter((name) => every.includes(name));
        const names = [...new Set([...known, ...every])]; // with the keys that they have in Data
        Object.assign(this, { names, classes: every });
        const words = this.from === HERE ? `Wrong? Keep the last ${KEPT_S} s as a take of` : "Teach the board: the last window is";
        const shown = JSON.stringify([words, names]);
        if (this.taught === shown) {
            return;
        }
        this.taught = shown;
        find("#wrong-words").textContent = words;
        const press = (name, at) => button([name, at < KEYS ? key(`${at + 1}`) : null], () => this.#keep(name), { "data-class": name });
        const forget = (name) => button(`Forget ${name}`, () => this.#forget(name), { class: "quiet", "data-class": name });
        const keep = ({ target, key: pressed }) => pressed === "Enter" && target.value.trim() && this.#keep(target.value.trim());
        const another = this.from === HERE && make("input", { type: "text", placeholder: "a new class", "aria-label": "Keep it as a take of a new class", maxlength: 60, keydown: keep });
        const buttons = names.flatMap((name, at) => (this.from === HERE ? [press(name, at)] : [press(name, at), forget(name)]));
        find("#wrong").replaceChildren(find("#wrong-words"), ...buttons, ...[another].filter(Boolean), find("#kept"));
    }

    /** Have the board forget a class in a while: it could not get back what it has forgotten. */
    #forget(name) {
        this.regretted?.(); // the class before
        const label = this.classes.indexOf(name);
        const end = () => {
            clearTimeout(timer);
            this.regretted = null;
            this.fail("");
        };
        const forget = () => {
            end();
            this.order("order", { what: "forget", label });
        };
        const timer = setTimeout(forget, REGRET_MS);
        this.regretted = forget;
        this.remark(`The board forgets the examples of ${name} in ${REGRET_MS / 1000} s.`, button(`Keep the examples of ${name}`, end, { "data-key": "undo" }));
    }

    #keep(name) {
        if (this.from !== HERE) {
            return this.order("order", { what: "teach", label: this.classes.indexOf(name) });
        }
        this.keeping = true;
        return this.order("order", { what: "keep", label: name, session: this.studio.stages.data.person, seconds: KEPT_S });
    }

    #kept({ label }) {
        if (!this.keeping) {
            return;
        }
        this.keeping = false;
        find("#kept").textContent = `Kept as a take of ${label}; train again to use it.`;
    }

    close() {
        return this.held.back();
    }

    key(name) {
        const label = this.names?.[+name - 1];
        if (label && !find("#wrong").hidden) {
            this.#keep(label);
        }
    }
}
