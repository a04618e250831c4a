/* The shares of a live answer: a bar for each class and for none of them, and the mark that each class must pass. */
import { all, bold, find, make, meter, renew, say } from "/parts.js";

const [MANY, MOST] = [6, 12]; // classes in two columns, and those that are shown of more
const MARK = 50; // per cent, unless it is moved
const NONE = "none of these";

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** The class that shares in per cent say, as protonn_edge/policy/confidence/voting.py does; -1 for none. */
function wordOf(shares, leader, marks) {
    let [word, most] = [-1, 100 - sum(shares)];
    for (const at of [leader, ...shares.keys()]) {
        if (shares[at] > most && shares[at] >= marks[at]) {
            [word, most] = [at, shares[at]];
        }
    }
    return word;
}

export class Bars {
    constructor(studio) {
        this.studio = studio;
        this.place = find("#scores");
    }

    /** The marks of some classes: those that were moved, or all the same. */
    #marks(names) {
        const moved = this.studio.chosen.marks ?? {};
        return names.map((name) => moved[name] ?? MARK);
    }

    /** The marks as a command takes them. */
    get asked() {
        const moved = this.studio.chosen.marks ?? {};
        const known = Object.entries(moved).filter(([name, mark]) => mark !== MARK && this.studio.model?.classes.includes(name));
        return [`${MARK}`, ...known.map(([name, mark]) => `${name}=${mark}`)];
    }

    /** Show an answer with these marks, of which nobody can move those that are built into a board. */
    show({ shares = {}, reported }, built) {
        const names = Object.keys(shares);
        const values = Object.values(shares);
        const marks = built ?? this.#marks(names);
        const none = 100 - sum(values);
        this.#rows(names, marks, Boolean(built));
        all("li", this.place).forEach((row) => {
            const at = names.indexOf(row.dataset.class);
            const share = at < 0 ? none : values[at];
            row.classList.toggle("winner", row.dataset.class === reported || (at < 0 && reported === "unknown" && none >= Math.max(...values)));
            find(".meter i", row).style.setProperty("--part", `${share}%`);
            find(".share", row).textContent = `${share} %`;
        });
        const top = values.indexOf(Math.max(...values));
        const known = shares[reported];
        const why = none >= values[top] ? "nothing like this was in the training data" : `${names[top]} has ${values[top]} %, but is said only from ${marks[top]} %`;
        find("#says").classList.toggle("unknown", reported === "unknown");
        return known === undefined ? [reported === "unknown" && names.length ? why : ""] : [bold(`${known} %`), " sure"];
    }

    #rows(names, marks, fixed) {
        const shown = names.length > MOST ? names.slice(0, MOST) : names;
        const key = JSON.stringify([shown, marks, fixed]);
        if (this.shown === key && this.place.childElementCount) {
            return;
        }
        this.shown = key;
        const row = (name, at) => make("li", { "data-class": name }, name, make("span", { class: "rail" }, meter(0), at < shown.length && this.#mark(name, marks[at], fixed)), make("span", { class: "share" }));
        this.place.classList.toggle("many", shown.length > MANY);
        renew(this.place, ...[...shown, NONE].map(row));
        this.#count();
    }

    #mark(name, mark, disabled) {
        const move = ({ target }) => {
            const marks = { ...this.studio.chosen.marks, [name]: +target.value };
            target.ariaValueText = `${target.value} per cent`;
            this.studio.chosen.marks = marks;
            this.#count();
        };
        const attributes = { type: "range", min: 0, max: 100, step: 5, value: mark, disabled, "aria-label": `Say ${name} from`, "aria-valuetext": `${mark} per cent`, "data-key": `mark ${name}` };
        return make("input", { ...attributes, input: move, change: () => this.studio.choose({ marks: this.studio.chosen.marks }) });
    }

    /** Say how many held-out windows the marks leave right. */
    #count() {
        const { tested = [], classes = [] } = this.studio.stages.train.answered;
        const marks = this.#marks(classes);
        const n = { right: 0, unknown: 0, wrong: 0 };
        for (const [actual, said, ...shares] of tested) {
            const word = wordOf(shares, said % shares.length, marks);
            n[word < 0 ? "unknown" : word === actual ? "right" : "wrong"] += 1;
        }
        const { held } = this.studio.model ?? {};
        const of = `the ${tested.length} ${this.studio.state.point}s${held ? ` of ${held}` : ""} that it never saw`;
        const counts = tested.length ? ` With these, of ${of}: ${n.right} right, ${n.unknown} unknown, ${n.wrong} wrong.` : "";
        const unlearned = this.studio.model?.rejects ? "" : " It knows nothing of what is no class: record a class of other things, or choose “Say unknown” under More in Train.";
        say(find("#tested"), `A class is said when its bar passes its mark; drag the marks.${counts}${unlearned}`);
    }
}
