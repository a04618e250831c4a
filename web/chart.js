/* A figure whose marks show their values under the pointer or a finger, or with the arrow keys. */

const REACH = 24; // px from the pointer within which a mark is chosen

export class Chart {
    /**
     * @param {SVGElement} svg Each mark contains its text in a <title>.
     * @param {Tip} tip
     * @param options `marks`, in the order of the keys; `words`, its text; `onGo`, `onLeave` and `onPick`,
     *     called with a mark's index; `spatial`, whether arrow keys move in their direction.
     */
    constructor(svg, tip, { marks, words, onGo, onLeave, onPick, spatial = false } = {}) {
        this.svg = svg;
        this.tip = tip;
        const texts = new Map();
        for (const mark of svg.querySelectorAll(".mark")) {
            const title = mark.querySelector("title");
            texts.set(mark, title.textContent);
            title.remove(); // or the browser would show it, too
        }
        this.marks = marks ?? [...texts.keys()];
        this.words = (place) => texts.get(this.marks[place]) ?? words(place);
        this.callbacks = { onGo, onLeave, onPick };
        this.spatial = spatial;
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
        svg.addEventListener("click", (event) => {
            this.#point(event);
            this.#pick();
        });
        svg.addEventListener("keydown", (event) => this.#key(event));
        svg.addEventListener("blur", () => this.leave());
    }

    /** Go to a mark and show its text. */
    go(place, aloud) {
        this.leave();
        this.at = place;
        this.marks[place].classList.add("on");
        this.tip.show(this.words(place), this.marks[place].getBoundingClientRect(), aloud);
        this.callbacks.onGo?.(place);
    }

    leave() {
        if (this.at !== null) {
            this.marks[this.at].classList.remove("on");
            this.callbacks.onLeave?.(this.at);
            this.at = null;
            this.tip.hide();
        }
    }

    #pick() {
        if (this.at !== null) {
            this.callbacks.onPick?.(this.at);
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
        const directions = {
            ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
        };
        const last = this.marks.length - 1;
        if (event.key in directions) {
            const [x, y] = directions[event.key];
            const start = this.lastKey ?? (x + y > 0 ? -1 : last + 1);
            const place = this.spatial ? this.#towards(x, y) : start + Math.sign(x - y);
            this.lastKey = Math.min(Math.max(place, 0), last);
        } else if (event.key === "Home" || event.key === "End") {
            this.lastKey = event.key === "Home" ? 0 : last;
        } else if (event.key === "Escape") {
            this.leave();
            return;
        } else {
            if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                this.#pick();
            }
            return;
        }
        event.preventDefault();
        this.go(this.lastKey, true);
    }

    /** The nearest mark in a direction, or the current one. */
    #towards(x, y) {
        const middles = this.marks.map((mark) => {
            const box = mark.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        });
        if (this.lastKey === undefined) {
            return 0;
        }
        const [fromX, fromY] = middles[this.lastKey];
        const costs = middles.map(([toX, toY]) => {
            const along = (toX - fromX) * x + (toY - fromY) * y;
            const across = Math.abs((toX - fromX) * y) + Math.abs((toY - fromY) * x);
            return along > 0.5 ? along + 2 * across : Infinity;
        });
        const least = Math.min(...costs);
        return least === Infinity ? this.lastKey : costs.indexOf(least);
    }
}
