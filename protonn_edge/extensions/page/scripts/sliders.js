/* A slider a column, with its value and its range; a list for a column of texts. */
import { titleOf } from "./columns.js";
import { shortly } from "./features.js";

const MOST_OPEN = 8; // more sliders would push the answer out of sight

export class Sliders {
    /** @param {Columns} columns
     *  @param {(raw: Float64Array) => void} onMove Called with all values when one is moved.
     *  @param {boolean} open Whether also many sliders are shown at first. */
    constructor(place, columns, { lower, upper, start }, onMove, open) {
        this.columns = columns;
        this.raw = Float64Array.from(start);
        this.parts = columns.list.map((column, i) => {
            const part = place.appendChild(document.createElement("div"));
            const label = part.appendChild(document.createElement("label"));
            label.textContent = titleOf(column);
            label.htmlFor = `slider-${i}`;
            const [feature] = column.features;
            const made = column.choices.length
                ? this.#list(part, column)
                : this.#slider(part, lower[feature], upper[feature]);
            made.input.id = label.htmlFor;
            made.input.addEventListener("input", () => {
                columns.set(this.raw, column, made.input.value, 0);
                this.#tell(made);
                onMove(this.raw);
            });
            return made;
        });
        this.move(start);
        place.parentElement.hidden = false;
        place.parentElement.open = open || columns.list.length <= MOST_OPEN;
    }

    #list(part, { choices }) {
        const input = part.appendChild(document.createElement("select"));
        input.append(...choices.map((text) => new Option(text)));
        return { input };
    }

    #slider(part, lower, upper) {
        const input = part.appendChild(document.createElement("input"));
        Object.assign(input, { type: "range", min: lower, max: upper, step: "any" });
        const [low, value, high] = ["small", "output", "small"].map((name) =>
            part.appendChild(document.createElement(name)),
        );
        [low.textContent, high.textContent] = [shortly(lower), shortly(upper)];
        return { input, value };
    }

    move(raw) {
        this.raw = Float64Array.from(raw);
        this.columns.list.forEach((column, i) => {
            const { input } = this.parts[i];
            if (column.choices.length) {
                input.selectedIndex = this.columns.chosen(raw, column);
            } else {
                input.value = raw[column.features[0]];
                this.raw[column.features[0]] = Number(input.value);
            }
            this.#tell(this.parts[i]);
        });
    }

    #tell({ input, value }) {
        if (value) {
            value.textContent = shortly(Number(input.value));
            input.setAttribute("aria-valuetext", value.textContent);
        }
    }
}
