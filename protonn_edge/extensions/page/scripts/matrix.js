/* The confusion matrix: pointing at a cell shows its points, clicking keeps them. */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Matrix {
    constructor(table, selection, tip) {
        this.selection = selection;
        this.tip = tip;
        this.kept = null;
        this.rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
        const names = [...table.tHead.querySelectorAll("th")].map((one) => one.textContent);
        this.words = new Map();
        this.rows.forEach((row, label) =>
            row.forEach((cell, answer) => {
                const actual = cell.parentElement.cells[0].textContent;
                this.words.set(cell, cell.title || `${actual}, answered ${names[answer]}: no point`);
                cell.removeAttribute("title");
                cell.tabIndex = -1;
                cell.dataset.cell = `${label} ${answer}`;
            }),
        );
        this.rows[0][0].tabIndex = 0;
        table.setAttribute("role", "grid");
        table.addEventListener("pointerover", (event) => this.#point(event));
        table.addEventListener("pointerleave", () => this.#leave());
        table.addEventListener("focusin", (event) => this.#look(event.target, true));
        table.addEventListener("focusout", () => this.#leave());
        table.addEventListener("click", (event) => this.#keep(event.target.closest("td")));
        table.addEventListener("keydown", (event) => this.#key(event));
    }

    #point({ target, pointerType }) {
        if (pointerType === "mouse") {
            this.#look(target.closest("td"), false);
        }
    }

    #look(cell, aloud) {
        if (this.words.has(cell)) {
            this.tip.show(this.words.get(cell), cell.getBoundingClientRect(), aloud);
            this.selection.show(this.#ofCell(cell));
        }
    }

    /** Return to the kept cell; without one, stay at the last cell, so that its points can be reached. */
    #leave() {
        this.tip.hide();
        if (this.kept) {
            this.selection.show(this.#ofCell(this.kept));
        }
    }

    #keep(cell) {
        if (!this.words.has(cell)) {
            return;
        }
        this.kept?.removeAttribute("aria-selected");
        this.kept = this.kept === cell ? null : cell;
        this.kept?.setAttribute("aria-selected", "true");
        this.#focus(cell);
        this.selection.show(this.#ofCell(cell));
    }

    #ofCell(cell) {
        const [label, answer] = cell.dataset.cell.split(" ").map(Number);
        return { label, answer };
    }

    #key(event) {
        const cell = event.target;
        if (!this.words.has(cell)) {
            return;
        }
        const { label, answer } = this.#ofCell(cell);
        if (event.key in STEPS) {
            const [down, right] = STEPS[event.key];
            this.#focus(this.rows[label + down]?.[answer + right]);
        } else if (event.key === "Home" || event.key === "End") {
            this.#focus(this.rows[label].at(event.key === "Home" ? 0 : -1));
        } else if (event.key === "Enter" || event.key === " ") {
            this.#keep(cell);
        } else if (event.key === "Escape") {
            this.tip.hide();
            return;
        } else {
            return;
        }
        event.preventDefault();
    }

    #focus(cell) {
        if (cell) {
            this.rows.flat().forEach((one) => (one.tabIndex = one === cell ? 0 : -1));
            cell.focus({ preventScroll: false });
        }
    }
}
