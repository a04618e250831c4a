/* The worst mistakes: each picture is a button that picks its point. */
import { PointNote } from "./note.js";

export class Mistakes {
    constructor(panel, points, selection) {
        for (const item of panel.querySelectorAll("li[data-index]")) {
            const place = points.placeOf(Number(item.dataset.index));
            if (place < 0) {
                continue;
            }
            const button = document.createElement("button");
            button.type = "button";
            button.append(...item.childNodes);
            button.addEventListener("click", () => selection.pick(place));
            item.append(button);
            selection.addEventListener("point", () => {
                button.setAttribute("aria-pressed", String(selection.point === place));
            });
        }
        new PointNote(panel, points, selection);
    }
}
