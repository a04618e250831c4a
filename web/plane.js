/* The model's space, in which you pick dots or highlight a class; a ring marks the Uno's current input. */
import { Chart } from "./chart.js";
import { PointNote } from "./note.js";

const SVG = "http://www.w3.org/2000/svg";

export class PlaneView {
    /** @param map `source`, `weights` and `offset` for the place in px of any other input, or null. */
    constructor(panel, points, selection, tip, map) {
        this.svg = panel.querySelector("svg.plane");
        this.points = points;
        this.selection = selection;
        this.map = map;
        this.dots = [...this.svg.querySelectorAll("circle")];
        this.prototypes = [...this.svg.querySelectorAll(".prototype")];
        this.ring = this.svg.appendChild(document.createElementNS(SVG, "circle"));
        this.ring.setAttribute("class", "here");
        this.ring.setAttribute("r", 9);
        this.#follow();
        this.#makeButtons(panel.querySelector(".classes"));
        const note = new PointNote(panel.querySelector(".space > div"), points, selection, true);
        new Chart(this.svg, tip, {
            marks: [...this.dots, ...this.prototypes],
            words: (place) => points.words(place),
            onGo: (place) => place < this.dots.length && note.show(place),
            onLeave: () => note.show(selection.point),
            onPick: (place) => place < this.dots.length && selection.pick(place),
            spatial: true,
        });
        note.show(selection.point);
        selection.addEventListener("point", () => this.#follow());
        selection.addEventListener("cell", () => this.#dim());
    }

    /** Put the ring at the place of the user's own input. */
    locate(bytes, scores) {
        if (!this.map) {
            return;
        }
        const source = this.map.source === "bytes" ? bytes : scores;
        this.#move(
            this.map.weights.map((row, axis) =>
                row.reduce((sum, weight, i) => sum + weight * source[i], this.map.offset[axis]),
            ),
        );
    }

    /** Put the ring around the picked test point. */
    #follow() {
        const dot = this.dots[this.selection.point];
        this.#move(dot ? [dot.getAttribute("cx"), dot.getAttribute("cy")] : null);
    }

    #move(place) {
        this.ring.toggleAttribute("hidden", place === null);
        if (place !== null) {
            const { width, height } = this.svg.viewBox.baseVal;
            const within = (value, end) => Math.min(Math.max(value, 4), end - 4);
            this.ring.setAttribute("cx", within(place[0], width));
            this.ring.setAttribute("cy", within(place[1], height));
        }
    }

    /** Make a button for each class, and one that shows all classes. */
    #makeButtons(list) {
        this.buttons = [...list.children].map((item) => {
            const button = document.createElement("button");
            button.type = "button";
            button.append(...item.childNodes);
            button.addEventListener("click", () => {
                const pressed = button.getAttribute("aria-pressed") === "true";
                this.selection.release();
                this.#only(pressed ? undefined : Number(item.dataset.label));
            });
            item.append(button);
            return button;
        });
        this.told = list.parentElement.appendChild(document.createElement("p"));
        this.told.className = "note";
        this.#only(undefined);
    }

    /** Highlight the class of a label, or none. */
    #only(label) {
        this.label = label;
        this.buttons.forEach((one, i) => one.setAttribute("aria-pressed", String(i === label)));
        this.#dim();
    }

    /** Keep in colour only the points of the kept cell, or else of the class. */
    #dim() {
        const { cell } = this.selection;
        const inCell = cell?.kept ? new Set(this.points.inCell(cell)) : null;
        if (inCell && this.label !== undefined) {
            this.#only(undefined);
            return;
        }
        const others = (label) => this.label !== undefined && this.label !== label;
        this.dots.forEach((dot, i) => {
            const left = inCell ? !inCell.has(i) : others(this.points.row(this.points.list[i].label));
            dot.classList.toggle("dim", left);
        });
        for (const prototype of this.prototypes) {
            prototype.classList.toggle("dim", !inCell && others(Number(prototype.dataset.label)));
        }
        this.#tell(inCell && cell);
    }

    #tell(cell) {
        this.told.textContent = "Point at a dot to see the point, click it to run the point, or choose a class.";
        if (cell) {
            const [actual, said] = [cell.label, cell.answer].map((label) => this.points.answer(label));
            this.told.textContent = `Coloured: points of ${actual} that were answered ${said}. `;
            const button = this.told.appendChild(document.createElement("button"));
            button.type = "button";
            button.textContent = "Show all";
            button.addEventListener("click", () => this.selection.release());
        }
    }
}
