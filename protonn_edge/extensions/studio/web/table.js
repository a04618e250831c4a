/* The columns of a table: what to predict, from which columns, with the evidence for what is in doubt. */
import { button, choice, counted, draw, find, labelled, make, renew, short } from "/parts.js";

const FILLED = [["median", "fill in the column's median"], ["most-frequent", "fill in its most frequent value"], ["drop", "leave the row out"]];
const ASKED = { column: "#predict select", kind: "#predict input", use: "#columns .doubt button" }; // by what a table does not state
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
        const kept = found.tests ? `${counted(found.tests, "row")} for the test are in the file.` : `About a fifth of the ${rows} is kept for the test.`;
        renew(find("#kept-rows"), ...(found.error || found.asks === "column" ? [] : [kept, ...this.#gaps(found.gaps)]));
    }

    #predict({ columns, label, target, classes, is_number: isNumber }) {
        const names = columns.filter(({ role, kind }) => role !== "time" && kind !== "date").map(({ key, name }) => [key, name]);
        const isKnown = names.some(([key]) => key === label);
        const options = isKnown ? names : [["", "choose a column"], ...names];
        const change = (column) => this.studio.chooseRead({ column, target: undefined, keep_columns: [], drop: [], one_hot: [] });
        const select = choice("column", options, isKnown ? label : "", change, { "aria-label": "The column of the answer" });
        const radio = (value, words) => {
            const press = () => this.studio.chooseRead({ column: label, target: value });
            return make("label", {}, make("input", { type: "radio", name: "as", value, checked: target === value, "data-key": `as ${value}`, change: press }), words);
        };
        const oneOf = `one of ${counted(classes ?? 0, "class", "classes")}`;
        const kinds = isNumber ? ["as", radio("value", "a number"), radio("class", oneOf)] : classes ? [`as ${oneOf}`] : [];
        renew(find("#predict"), labelled("Predict", select), ...kinds);
    }

    /** What becomes of empty cells. */
    #gaps(gaps) {
        const fill = (value) => this.studio.chooseRead({ missing: value });
        return gaps ? [make("label", {}, ` ${counted(gaps, "cell")} without a value: `, choice("missing", FILLED, this.studio.read.missing, fill))] : [];
    }

    #table({ columns, asks }) {
        const heading = (words, kind = "text") => make("th", { class: kind, scope: "col" }, words);
        const head = ["use", "column", "values", "range", "what it looks like"].map((words, at) => heading(words, at === 2 ? "text wide-only" : "text"));
        const rows = columns.filter(({ role }) => role !== "label").map((one) => this.#row(one, asks === "column"));
        const body = make("tbody");
        renew(find("#columns"), make("thead", {}, make("tr", {}, ...head)), body);
        body.append(...rows);
    }

    #row(column, waits) {
        const { key, name, used, can, role, kind, evidence, histogram, low, high, values, distinct } = column;
        const doubt = used === null;
        const box = make("input", {
            type: "checkbox",
            checked: used === true,
            disabled: waits || (!can && !used),
            "aria-label": `Use ${name}`,
            "data-key": `use ${key}`,
            change: ({ target }) => this.#decide(column, target.checked),
        });
        box.indeterminate = doubt;
        const words = kind === "date" ? day : short;
        const range = low === null ? values.join(", ") : [...new Set([words(low), words(high)])].join(" to ");
        const isText = kind === "text" && can && !waits;
        const texts = isText && (used ? `each of its ${distinct} texts is a feature` : `text; tick it to make a feature of each of its ${distinct} texts`);
        const many = kind === "text" && !can && !waits && `text; its ${distinct} texts are too many to be features`;
        const looks = texts || many || evidence || (used === false && role ? `left out: ${role}` : "");
        const decide = (words, use, way) => button(words, () => this.#decide(column, use), { "data-key": `${way} ${key}` });
        const ways = doubt ? [" ", decide("Use it", true, "keep"), " ", decide("Leave it out", false, "drop")] : [];
        return make(
            "tr",
            { class: doubt ? "doubt" : used || waits ? "" : "out" },
            make("td", { class: "text" }, make("label", { class: "pick" }, box)),
            make("th", { scope: "row" }, name),
            make("td", { class: "text wide-only" }, histogram ? bars(histogram) : null),
            make("td", { class: "text" }, range),
            make("td", { class: "text" }, looks, ...ways),
        );
    }

    #decide({ key, kind }, use) {
        const { keep_columns = [], drop = [], one_hot = [] } = this.studio.read;
        const others = (names) => names.filter((one) => one !== key);
        const lists = { keep_columns: others(keep_columns), drop: others(drop), one_hot: others(one_hot) };
        lists[!use ? "drop" : kind === "text" ? "one_hot" : "keep_columns"].push(key);
        this.studio.chooseRead(lists);
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
