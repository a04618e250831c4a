/* The columns of a table: the cells of a row become raw values, a number each, or a 1 for one of some texts. */
import { shortly } from "./features.js";

const MOST_NAMES = 12; // in a sentence
const GAP = /^(?:|na|n\/a|nan|null|none|\?|--?)$/i; // an empty cell of a column of numbers

export class Columns {
    /** @param columns Each has a `name`, the indices of its `features`, their texts as `choices`, if any, a
     *  `filling` for empty cells, or null, and an `offset` of its feature, which is subtracted from its cells.
     *  @param {string[]} classes Names of labels, which a pasted row may have, too.
     *  @param {string[]} table Names of all columns of the data, if these columns are some of them. */
    constructor(columns, features, classes, table = []) {
        this.table = table;
        this.list = columns;
        this.features = features;
        this.classes = classes;
        this.width = columns.length || features.count;
        this.hasTexts = columns.some(({ choices }) => choices.length > 0);
    }

    /** Return the raw values in the text of a row, with decimal commas if semicolons or tabs separate the
     *  cells; throws a sentence if they do not fit. */
    read(text) {
        const cells = this.#ofFeatures(split(text.trim()));
        const { count } = this.features;
        if (cells.length !== this.width && cells.length !== count) {
            throw new Error(`there are ${cells.length} values, but the model takes ${this.width}${this.#names()}`);
        }
        if (cells.length !== this.list.length) {
            return Float64Array.from(cells, (cell) => number(cell));
        }
        const raw = new Float64Array(count);
        this.list.forEach((column, i) => this.set(raw, column, cells[i]));
        return raw;
    }

    /** Set the features of a column in raw values; a cell has its offset, too, unless that is given as 0. */
    set(raw, { name, features, choices, filling = null, offset: own = 0 }, cell, offset = own) {
        if (choices.length && !choices.includes(cell)) {
            throw new Error(`“${cell.slice(0, 20)}” is none of the values of ${name}: ${choices.join(", ")}`);
        }
        features.forEach((feature, k) => {
            raw[feature] = choices.length
                ? Number(choices[k] === cell)
                : number(cell, name, filling === null ? null : filling + offset) - offset;
        });
    }

    /** Return the place of the choice of a column in raw values, -1 if it has none. */
    chosen(raw, { features }) {
        return features.findIndex((feature) => raw[feature] > 0.5);
    }

    /** Say which raw values the model cannot take; nothing if there are none. */
    clamped(raw) {
        const { features } = this;
        const restored = features.restore(features.quantize(raw));
        const told = [...raw.keys()]
            .filter((i) => features.isClamped(raw[i], i))
            .map((i) => {
                const column = this.list.find(({ features: own }) => own.includes(i)) ?? { name: `value ${i + 1}` };
                return `${titleOf(column)} from ${shortly(raw[i])} to ${shortly(restored[i])}`;
            });
        const more = told.length > 3 ? ` and ${told.length - 3} more` : "";
        return told.length ? `Clamped to the range of the training data: ${told.slice(0, 3).join(", ")}${more}.` : "";
    }

    #names() {
        const names = this.list.map(({ name }) => name);
        return names.length > 0 && names.length <= MOST_NAMES ? `: ${names.join(", ")}` : "";
    }

    /** Return the cells of the columns that the model uses. */
    #ofFeatures(cells) {
        if (this.table.length > 0 && cells.length === this.table.length) {
            return this.list.map(({ name }) => cells[this.table.indexOf(name)]);
        }
        return this.#withoutLabel(cells);
    }

    #withoutLabel(cells) {
        if (cells.length !== this.width + 1) {
            return cells;
        }
        // A number at one end is no label for sure if the table has another column at the other end.
        const isLabel = (cell, opposite = "") =>
            this.classes.includes(cell) &&
            (opposite === "" || this.list.some(({ name }) => name === opposite) || !Number.isFinite(Number(cell)));
        const first = isLabel(cells[0], this.table.at(-1));
        const last = isLabel(cells.at(-1), this.table[0]);
        return last ? cells.slice(0, -1) : first ? cells.slice(1) : cells;
    }
}

/** Return the name of the feature of a column. */
export function titleOf({ name, offset = 0 }) {
    return offset ? `${name} ${offset < 0 ? "+" : "\u2212"} ${Math.abs(offset)}` : name;
}

function split(text) {
    const pointed = /[;\t]/.test(text) ? text.replaceAll(/,(?=\d)/g, ".") : text;
    const between = /[,;\t\n]/.test(pointed) ? /\s*[,;\t\n]\s*/ : /\s+/;
    return pointed.split(between).map((cell) => cell.replace(/^"(.*)"$/, "$1"));
}

function number(cell, name = "a cell", filling = null) {
    if (GAP.test(cell) && filling !== null) {
        return filling;
    }
    if (cell === "") {
        throw new Error(`${name} is empty, but the model takes a number`);
    }
    if (!Number.isFinite(Number(cell))) {
        throw new Error(`“${cell.slice(0, 20)}” is not a number`);
    }
    return Number(cell);
}
