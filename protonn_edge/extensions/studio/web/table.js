/* The columns of a table: what to predict, from which columns, with the evidence for what is in doubt. */
import { button, choice, counted, draw, find, labelled, make, notice, renew, short } from "/parts.js";

const MOST_CLASSES = 64; // more are hardly meant
const FILLED = [["median", "fill in the column's median"], ["most-frequent", "fill in its most frequent value"], ["drop", "leave the row out"]];
const KIND = '[data-key="as value"]'; // where a doubt is decided: a number or a class, use of a column
const COLUMN = "#columns .doubt button";
const BAR = 8;
const TALL = 30;

export class Columns {
    constructor(data) {
        Object.assign(this, { data, studio: data.studio, doubt: "" });
    }

    async show() {
        const { studio } = this;
        const { missing, ...read } = studio.read;
        const { data } = studio.state;
        const asking = (this.asking = {});
        const answer = await studio.wire.ask("columns", { data, ...read });
        if (asking !== this.asking || data !== studio.state.data) {
            return; // another table is shown by now
        }
        const found = { rows: 0, columns: [], ...answer }; // a refused request has an error alone
        if (found.label && !studio.read.column) {
            await studio.chooseRead({ column: found.label }); // the commands do not guess it
            return;
        }
        const { target, can = {} } = found;
        const isEither = !read.target && target === "class" && can.value && can.classes > MOST_CLASSES;
        const isInDoubt = found.columns.some(({ used, role }) => used === null && role !== "label");
        this.doubt = isEither ? KIND : isInDoubt && COLUMN;
        this.#predict(found);
        this.#table(found);
        const refused = find("#table .refused");
        refused?.remove();
        if (found.error) {
            find("#predict").before(make("div", { class: "refused" }, notice(found.error)));
        }
        const rows = counted(found.rows, "row");
        const kept = found.tests ? `${counted(found.tests, "row")} for the test are in the file.` : `About a fifth of the ${rows} is kept for the test.`;
        renew(find("#kept-rows"), ...(found.error ? [] : [kept, ...this.#gaps(found.gaps, missing)]));
        this.data.showActions();
    }

    #predict({ columns, label, target, can = {} }) {
        const names = columns.filter(({ role }) => role !== "time").map(({ name }) => [name, name]);
        const chosen = label ?? "";
        const options = label ? names : [["", "choose a column"], ...names];
        const select = choice("column", options, chosen, (column) => this.studio.chooseRead({ column, target: undefined, keep_columns: [], drop: [] }), {
            "aria-label": "The column of the answer",
        });
        const radio = (value, words) =>
            make(
                "label",
                {},
                make("input", {
                    type: "radio",
                    name: "as",
                    value,
                    checked: target === value && this.doubt !== KIND,
                    "data-key": `as ${value}`,
                    change: () => this.studio.chooseRead({ target: value }),
                }),
                words,
            );
        const classes = can.classes ?? 0;
        const oneOf = `one of ${counted(classes, "class", "classes")}`;
        const kinds = can.value ? ["as", radio("value", "a number"), radio("class", oneOf)] : classes ? [`as ${oneOf}`] : [];
        renew(find("#predict"), labelled("Predict", select), ...kinds);
    }

    /** What becomes of empty cells. */
    #gaps(gaps, missing) {
        const fill = (value) => this.studio.chooseRead({ missing: value });
        return gaps ? [make("label", {}, ` ${counted(gaps, "cell")} without a value: `, choice("missing", FILLED, missing, fill))] : [];
    }

    #table({ columns }) {
        const heading = (words, kind = "text") => make("th", { class: kind, scope: "col" }, words);
        const head = ["use", "column", "values", "range", "what it looks like"].map((words, at) => heading(words, at === 2 ? "text wide-only" : "text"));
        const rows = columns.filter(({ role }) => role !== "label").map((one) => this.#row(one));
        const body = make("tbody");
        renew(find("#columns"), make("thead", {}, make("tr", {}, ...head)), body);
        body.append(...rows);
    }

    #row({ name, used, role, kind, evidence, histogram, low, high, values }) {
        const doubt = used === null;
        const box = make("input", {
            type: "checkbox",
            checked: used === true,
            disabled: kind === "text" && !used, // only numbers can be used
            "aria-label": `Use ${name}`,
            "data-key": `use ${name}`,
            change: ({ target }) => this.#decide(name, target.checked),
        });
        box.indeterminate = doubt;
        const words = kind === "time" ? day : short;
        const known = low !== null && low !== undefined;
        const range = known ? [...new Set([words(low), words(high)])].join(" to ") : (values ?? []).slice(0, 4).join(", ");
        const looks = evidence || (used === false && role !== "feature" ? `left out: ${role}` : "");
        const decide = doubt
            ? [" ", button("Use it", () => this.#decide(name, true), { "data-key": `keep ${name}` }), " ", button("Leave it out", () => this.#decide(name, false), { "data-key": `drop ${name}` })]
            : [];
        return make(
            "tr",
            { class: doubt ? "doubt" : used ? "" : "out" },
            make("td", { class: "text" }, make("label", { class: "pick" }, box)),
            make("th", { scope: "row" }, name),
            make("td", { class: "text wide-only" }, histogram ? bars(histogram) : null),
            make("td", { class: "text" }, range),
            make("td", { class: "text" }, looks, ...decide),
        );
    }

    #decide(name, use) {
        const { keep_columns = [], drop = [] } = this.studio.read;
        const [kept, left] = [keep_columns, drop].map((names) => names.filter((one) => one !== name));
        (use ? kept : left).push(name);
        this.studio.chooseRead({ keep_columns: kept, drop: left });
    }

    /** Lead to what waits for a decision: a column, or the kind of the answer. */
    ask() {
        const place = find(this.doubt);
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
