/* A test point as text, with a link to the Uno that runs it. */
const SCORES = 3;

export class PointNote {
    constructor(place, points, selection) {
        this.points = points;
        this.selection = selection;
        this.note = place.appendChild(document.createElement("div"));
        this.note.className = "picked";
        this.note.hidden = true;
        selection.addEventListener("point", () => this.show(selection.point));
    }

    /** Show a point by its index in the list; null shows none. */
    show(i) {
        this.note.hidden = i === null;
        if (this.note.hidden) {
            return;
        }
        const { points } = this;
        const { scores } = points.list[i];
        const best = [...(scores ?? []).keys()].sort((a, b) => scores[b] - scores[a]).slice(0, SCORES);
        const told = best.map((k) => `${points.answer(k)}: ${scores[k].toLocaleString("en")}`);
        const words = document.createElement("p");
        words.textContent = `${points.words(i)}. `;
        words.textContent += told.length ? `Highest scores: ${told.join("; ")}. ` : "";
        const link = words.appendChild(document.createElement("a"));
        link.href = "#uno";
        link.textContent = "See it on the Uno";
        link.addEventListener("click", () => this.selection.pick(i));
        this.note.replaceChildren(words);
    }
}
