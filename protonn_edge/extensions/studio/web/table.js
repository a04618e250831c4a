/* The columns of a table: what to predict, from which columns, with the evidence for what is in doubt. */
import { button, choice, counted, draw, find, labelled, make, renew, short } from "/parts.js";

const FILLED = [["median", "fill in the column's median"], ["most-frequent", "fill in its most frequent value"], ["drop", "leave the row out"]];
const ASKED = { column: "#predict select", kind: "#predict input", use: "#columns .doubt button" }; // by what a table does not state
const ROLES = [["input", "input"], ["out", "left out"], ["session", "person or session"], ["time", "time or counter"]];
const DELIMITERS = ["comma", "semicolon", "tab", "pipe", "space"];
const DETECTED = ["", "detected"];
const BAR = 8;
const TALL = 30;

export class Columns {
    constructor(studio) {
        this.studio = studio;
    }

    show(found) {
        this.#predict(found);
        this.#table(found);
        const rows = counted(found.rows, "row");
        const kept = found.tests ? `${counted(found.tests, "row")} for the test are in the file` : `About a fifth of the ${rows} is kept for the test`;
        const { name: session } = found.columns.find(({ as }) => as === "session") ?? {};
        const whole = session ? `; the rows of one ${session} stay together` : "";
        renew(find("#kept-rows"), ...(found.error || found.asks === "column" ? [] : [`${kept}${whole}.`, ...this.#gaps(found.gaps)]));
    }

    #predict({ columns, label, target, classes, is_number: isNumber, why, error }) {
        const names = columns.filter(({ role, kind }) => role !== "time" && kind !== "date").map(({ key, name }) => [key, name]);
        if (target === "labels" && !names.some(([key]) => key === label)) {
            names.push([label, label.replaceAll(",", ", ")]);
        }
        const isKnown = names.some(([key]) => key === label);
        const options = isKnown ? names : [["", "choose a column"], ...names];
        const change = (column) => this.studio.chooseRead({ column, labels: [], target: undefined, keep_columns: [], drop: [], one_hot: [], session: undefined, time: undefined });
        const select = choice("column", options, isKnown ? label : "", change, { "aria-label": "The column of the answer" });
        const radio = (value, words) => {
            const press = () => this.studio.chooseRead({ column: label, target: value });
            return make("label", {}, make("input", { type: "radio", name: "as", value, checked: target === value, "data-key": `as ${value}`, change: press }), words);
        };
        const oneOf = `one of ${counted(classes ?? 0, "class", "classes")}`;
        const kinds = target === "labels" ? [`as any of ${counted(classes, "label")}`] : isNumber ? ["as", radio("value", "a number"), radio("class", oneOf)] : classes ? [`as ${oneOf}`] : [];
        renew(find("#predict"), labelled("Predict", select), ...kinds, why && make("span", {}, `${why}.`), ...this.#written(columns, error));
    }

    /** How the cells are divided and numbers written, if it cannot be seen, or was chosen. */
    #written(columns, error) {
        const { delimiter, decimal } = this.studio.read;
        const ask = (name, words, values, chosen) => labelled(words, choice(name, [DETECTED, ...values.map((one) => [one, one])], chosen ?? "", (value) => this.studio.chooseRead({ [name]: value || undefined, column: undefined, target: undefined })));
        const marks = ask("decimal", "Decimal mark", ["comma", "point"], decimal);
        return error || delimiter || decimal || columns.length < 3 ? [ask("delimiter", "Columns are divided by", DELIMITERS, delimiter), marks] : [];
    }

    /** What becomes of empty cells. */
    #gaps(gaps) {
        const fill = (value) => this.studio.chooseRead({ missing: value });
        return gaps ? [make("label", {}, ` ${counted(gaps, "cell")} without a value: `, choice("missing", FILLED, this.studio.read.missing, fill))] : [];
    }

    #table({ columns, asks }) {
        const heading = (words, kind = "text") => make("th", { class: kind, scope: "col" }, words);
        const head = ["column", "is", "values", "range", "what it looks like"].map((words, at) => heading(words, at === 2 ? "text wide-only" : "text"));
        const rows = columns.filter(({ role }) => role !== "label").map((one) => this.#row(one, asks === "column"));
        renew(find("#columns"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
    }

    #row(column, waits) {
        const { key, name, as, can, role, kind, evidence, histogram, low, high, values, distinct } = column;
        const doubt = as === "";
        const roles = ROLES.filter(([value]) => value !== "input" || can || as === value);
        const select = choice(`role ${key}`, doubt ? [["", "in doubt"], ...roles] : roles, as, (chosen) => this.#decide(column, chosen), {
            disabled: waits,
            "aria-label": `What ${name} is`,
        });
        const words = kind === "date" ? day : short;
        const range = low === null ? values.join(", ") : [...new Set([words(low), words(high)])].join(" to ");
        const isText = kind === "text" && !waits;
        const texts = !isText ? "" : !can ? `its ${distinct} texts are too many for an input` : as === "input" ? `each of its ${distinct} texts is an input` : "text; as an input, each of its texts is one";
        const looks = evidence || texts || (as === "out" && role && !waits ? `left out: ${role}` : "");
        const decide = (text, chosen) => button(text, () => this.#decide(column, chosen), { "data-key": `${chosen} ${key}` });
        const ways = doubt ? [" ", decide("Use it", "input"), " ", decide("Leave it out", "out")] : [];
        return make(
            "tr",
            { class: doubt ? "doubt" : as === "input" || waits ? "" : "out" },
            make("th", { scope: "row" }, name),
            make("td", { class: "text" }, select),
            make("td", { class: "text wide-only" }, histogram ? bars(histogram) : null),
            make("td", { class: "text" }, range),
            make("td", { class: "text" }, looks, ...ways),
        );
    }

    #decide({ key, kind }, as) {
        const { keep_columns = [], drop = [], one_hot = [], session, time } = this.studio.read;
        const others = (names) => names.filter((one) => one !== key);
        const other = (name) => (name === key ? undefined : name);
        const read = { keep_columns: others(keep_columns), drop: others(drop), one_hot: others(one_hot), session: other(session), time: other(time) };
        if (as === "session" || as === "time") {
            read[as] = key;
        } else {
            read[as === "out" ? "drop" : kind === "text" ? "one_hot" : "keep_columns"].push(key);
        }
        this.studio.chooseRead(read);
    }

    /** Lead to what the table does not state. */
    ask(what) {
        const place = find(ASKED[what]);
        place?.closest("tr, .row").scrollIntoView({ block: "center" });
        place?.focus({ preventScroll: true });
    }
}

const day = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 10);

/** A histogram of twelve counts. */
function bars(counts) {
    const most = Math.max(...counts, 1);
    const bar = (count, at) => {
        const height = count ? Math.max(1, (TALL * count) / most) : 0;
        return draw("rect", { x: at * BAR, y: TALL - height, width: BAR - 1, height, rx: 1 });
    };
    return draw("svg", { viewBox: `0 0 ${BAR * counts.length} ${TALL}`, "aria-hidden": "true" }, ...counts.map(bar));
}
