/* Small pictures of the points in a cell of the confusion matrix, by default the cell with most mistakes. */
import { PointNote } from "./note.js";
import { pictureOf } from "./preview.js";

const SHOWN = 12;
const SIDE = 160; // px

export class CellPoints {
    constructor(panel, points, selection, counts) {
        this.points = points;
        this.selection = selection;
        this.counts = counts;
        this.place = document.createElement("div");
        this.place.className = "cell-points";
        panel.prepend(this.place);
        this.title = this.place.appendChild(document.createElement("h3"));
        this.list = this.place.appendChild(document.createElement("ul"));
        const { shape } = points.look;
        this.list.className = shape && shape.rows > 1 ? "thumbnails" : "thumbnails flat";
        this.more = this.place.appendChild(document.createElement("p"));
        this.more.className = "note";
        new PointNote(this.place, points, selection);
        selection.addEventListener("cell", () => this.#show(selection.cell ?? this.#worst()));
        this.#show(this.#worst());
    }

    /** The cell with the most mistakes or, without mistakes, with the most points. */
    #worst() {
        const cells = this.counts.flatMap((row, label) =>
            row.map((count, answer) => ({ label, answer, count, wrong: label !== answer })),
        );
        const weight = ({ count, wrong }) => count * (wrong ? 1e9 : 1);
        return cells.reduce((most, cell) => (weight(cell) > weight(most) ? cell : most));
    }

    #show(cell) {
        const key = `${cell.label} ${cell.answer}`;
        if (this.key !== key) {
            this.key = key;
            this.#draw(cell);
        }
    }

    #draw({ label, answer }) {
        const { points } = this;
        const count = this.counts[label][answer];
        const [actual, said] = [points.answer(label), points.answer(answer)];
        const of = count === 1 ? "1 point" : `${count.toLocaleString("en")} points`;
        this.title.textContent = label === answer
            ? `${actual}, answered correctly: ${of}`
            : `${actual}, answered ${said}: ${of}`;
        const found = points.inCell({ label, answer });
        const shown = found.slice(0, SHOWN);
        this.list.replaceChildren(...shown.map((i) => this.#item(i)));
        this.more.textContent = shown.length < count
            ? `${shown.length} of ${count.toLocaleString("en")} are shown.`
            : "";
        this.more.textContent += " Point at a cell to see its points; click or press Enter to keep them.";
    }

    #item(i) {
        const item = document.createElement("li");
        const button = item.appendChild(document.createElement("button"));
        button.type = "button";
        button.setAttribute("aria-label", this.points.words(i));
        button.append(pictureOf(this.points, i, SIDE), `#${this.points.list[i].index}`);
        button.addEventListener("click", () => this.selection.pick(i));
        return item;
    }
}
