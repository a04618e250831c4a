/* What training held out, the wrong answers first: an answer to data of every kind, without a board. */
import { bold, button, find, make, renew, unseen } from "/parts.js";
import { drawn } from "/result.js";
import { ribbon } from "/scope.js";

const STEPS = 1000; // of a slider

export class Held {
    constructor(studio) {
        this.studio = studio;
        this.place = find("#held");
        this.at = 0;
    }

    get points() {
        return this.studio.stages.train.answered.points ?? [];
    }

    /** Go to a point, from the table of the answers. */
    open(point) {
        this.at = this.points.indexOf(point);
        this.studio.go("try");
        this.show(true);
    }

    show(wanted) {
        const { points } = this;
        const key = JSON.stringify([this.studio.stages.train.answered.asked, this.at]);
        this.place.hidden = !wanted || !points.length;
        if (this.place.hidden || (this.shown === key && this.place.childElementCount)) {
            return;
        }
        this.shown = key;
        this.at = Math.min(this.at, points.length - 1);
        const point = points[this.at];
        const step = (by, sign, words) => button([sign, unseen(words)], () => this.open(points[this.at + by]), { class: "quiet", disabled: !points[this.at + by], "data-key": words });
        this.says = make("p", { class: "class", "aria-live": "polite" });
        this.note = make("p", { class: "note" });
        const place = make("span", {}, `${this.studio.point} ${this.at + 1} of ${points.length}`);
        this.x = point.x && [...point.x];
        const said = make("div", { class: "panel" }, this.says, this.note, make("div", { class: "row" }, step(-1, "‹", "The one before"), place, step(1, "›", "The next one")));
        renew(this.place, said, make("div", { class: "panel" }, ...(this.x ? this.#sliders(point) : [drawn(point)])));
        this.#say(point.said, point.sure, point.actual === point.said ? "right" : `wrong: it is ${point.actual}`);
        this.#ask(false);
    }

    #say(said, sure, more) {
        this.says.textContent = said;
        this.note.replaceChildren(...(sure === null || sure === undefined ? [] : [bold(`${Math.round(sure)} %`), " sure; "]), more);
    }

    /** A slider for each column, and below it what would be answered if only this column changed. */
    #sliders({ values }) {
        const { ranges } = this.studio.stages.train.answered;
        this.strips = values.map(() => make("div", { class: "ribbon", role: "img" }));
        return values.map(([name], at) => {
            const [low, high] = ranges[at];
            const shown = make("span", {}, `${+this.x[at].toPrecision(4)}`);
            const slide = ({ target }) => {
                this.x[at] = low + ((high - low) * target.value) / STEPS;
                shown.textContent = `${+this.x[at].toPrecision(4)}`;
                this.#ask(true);
            };
            const value = Math.round((STEPS * (this.x[at] - low)) / (high - low || 1));
            return make("label", { class: "slider" }, name, shown, make("input", { type: "range", min: 0, max: STEPS, value, "data-key": name, input: slide }), this.strips[at]);
        });
    }

    /** Ask for the answer to the values that the sliders have. */
    async #ask(moved) {
        if (!this.x) {
            return;
        }
        const { model } = this.studio.state;
        const { ranges } = this.studio.stages.train.answered;
        const asked = (this.asking = [...this.x]);
        const found = await this.studio.wire.ask("what_if", { model, x: asked, ranges });
        if (asked !== this.asking || found.error) {
            return;
        }
        if (moved) {
            this.#say(found.said, found.sure, "with these values");
        }
        found.strips.forEach((words, at) => ribbon(this.strips[at], words.map((label, n) => ({ label, from: n / words.length, to: (n + 1) / words.length })), "If only this changed"));
    }
}
