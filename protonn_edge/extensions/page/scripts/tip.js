/* The box that shows the value at the pointer, and announces to a screen reader what the keys go to. */

const GAP = 8; // px between the box and what it is about

export class Tip {
    constructor(place) {
        this.box = place.appendChild(document.createElement("div"));
        this.box.className = "tip";
        this.box.setAttribute("aria-hidden", "true");
        this.said = place.appendChild(document.createElement("p"));
        this.said.className = "unseen";
        this.said.setAttribute("role", "status");
        this.hide();
    }

    /** Show words above a rectangle of the window, below it where there is no room.
     *
     * @param {DOMRect} at
     * @param {boolean} aloud Whether it was reached by the keyboard.
     */
    show(words, at, aloud = false) {
        this.box.hidden = false;
        this.box.textContent = words;
        const { offsetWidth: width, offsetHeight: height } = this.box;
        const middle = at.left + at.width / 2 - width / 2;
        const left = Math.min(Math.max(middle, GAP), document.documentElement.clientWidth - width - GAP);
        const above = at.top - height - GAP;
        this.box.style.left = `${left + scrollX}px`;
        this.box.style.top = `${(above > 0 ? above : at.bottom + GAP) + scrollY}px`;
        if (aloud) {
            this.said.textContent = words;
        }
    }

    hide() {
        this.box.hidden = true;
    }
}
