/* A slider a feature, with its value and its range. */
import { shortly } from "./features.js";

const MOST_OPEN = 8; // more sliders would push the answer out of sight

export class Sliders {
    /** @param {(raw: number[]) => void} onMove Called with all values when one is moved.
     *  @param {boolean} open Whether also many sliders are shown at first. */
    constructor(place, names, { lower, upper, start }, onMove, open) {
        this.parts = names.map((name, i) => {
            const part = place.appendChild(document.createElement("div"));
            const label = part.appendChild(document.createElement("label"));
            label.textContent = name;
            label.htmlFor = `slider-${i}`;
            const input = part.appendChild(document.createElement("input"));
            Object.assign(input, {
                id: label.htmlFor, type: "range", min: lower[i], max: upper[i], step: "any",
            });
            const [low, value, high] = ["small", "output", "small"].map((name) =>
                part.appendChild(document.createElement(name)),
            );
            [low.textContent, high.textContent] = [shortly(lower[i]), shortly(upper[i])];
            input.addEventListener("input", () => {
                this.#tell(input, value);
                onMove(this.parts.map((one) => Number(one.input.value)));
            });
            return { input, value };
        });
        this.move(start);
        place.parentElement.hidden = false;
        place.parentElement.open = open || names.length <= MOST_OPEN;
    }

    move(raw) {
        this.parts.forEach(({ input, value }, i) => {
            input.value = raw[i];
            this.#tell(input, value);
        });
    }

    #tell(input, value) {
        value.textContent = shortly(Number(input.value));
        input.setAttribute("aria-valuetext", value.textContent);
    }
}
