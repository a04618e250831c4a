/* A figure whose marks show their values under the pointer or a finger, or with the arrow keys. */

const REACH = 24; // px from the pointer within which a mark is chosen

export class Chart {
    /**
     * @param {SVGElement} svg Each mark contains its text in a <title>.
     * @param {Tip} tip
     */
    constructor(svg, tip) {
        this.svg = svg;
        this.tip = tip;
        this.texts = new Map();
        for (const mark of svg.querySelectorAll(".mark")) {
            const title = mark.querySelector("title");
            this.texts.set(mark, title.textContent);
            title.remove(); // or the browser would show it, too
        }
        this.marks = [...this.texts.keys()];
        this.at = null;
        if (this.marks.length > 0) {
            this.#listen();
        }
    }

    #listen() {
        const { svg } = this;
        svg.setAttribute("tabindex", "0");
        svg.setAttribute("role", "application");
        svg.setAttribute("aria-roledescription", "chart; arrow keys move between values");
        svg.addEventListener("pointermove", (event) => this.#point(event));
        svg.addEventListener("pointerleave", () => this.leave());
        svg.addEventListener("click", (event) => this.#point(event));
        svg.addEventListener("keydown", (event) => this.#key(event));
        svg.addEventListener("blur", () => this.leave());
    }

    /** Go to a mark and show its text. */
    go(place, aloud) {
        this.leave();
        this.at = place;
        const mark = this.marks[place];
        mark.classList.add("on");
        this.tip.show(this.texts.get(mark), mark.getBoundingClientRect(), aloud);
    }

    leave() {
        if (this.at !== null) {
            this.marks[this.at].classList.remove("on");
            this.at = null;
            this.tip.hide();
        }
    }

    #point({ clientX, clientY }) {
        const distances = this.marks.map((mark) => {
            const { left, right, top, bottom } = mark.getBoundingClientRect();
            const outside = (low, value, high) => Math.max(low - value, 0, value - high);
            return Math.hypot(outside(left, clientX, right), outside(top, clientY, bottom));
        });
        const nearest = Math.min(...distances);
        // Where marks overlap, the last one is on top.
        const place = distances.lastIndexOf(nearest);
        if (nearest > REACH) {
            this.leave();
        } else if (place !== this.at) {
            this.go(place, false);
        }
    }

    #key(event) {
        const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };
        const last = this.marks.length - 1;
        if (event.key in steps) {
            const step = steps[event.key];
            const start = this.lastKey ?? (step > 0 ? -1 : last + 1);
            this.lastKey = Math.min(Math.max(start + step, 0), last);
        } else if (event.key === "Home" || event.key === "End") {
            this.lastKey = event.key === "Home" ? 0 : last;
        } else if (event.key === "Escape") {
            this.leave();
            return;
        } else {
            return;
        }
        event.preventDefault();
        this.go(this.lastKey, true);
    }
}
