/* Answers without a board: to what training held out, the wrong ones first, or to files of one's own. */
import { bold, button, counted, curve, find, make, number, rangeOf, renew, short, unseen } from "/parts.js";
import { drawn } from "/result.js";
import { cellsOf, ribbon } from "/scope.js";
import { leftOut } from "/sheet.js";

const STEPS = 1000; // of a slider
const SLIDERS = 12; // columns that are shown at once: those that change the answer most

export class Held {
    constructor(studio) {
        this.studio = studio;
        this.place = find("#held");
        this.at = 0;
    }

    /** What is answered to: own files, or else what training held out. */
    get source() {
        return this.own?.model === this.studio.state.model ? this.own : this.studio.stages.train.answered;
    }

    get points() {
        return this.source.points ?? [];
    }

    /** Whether a point or a file was opened, beside which no live answer is shown. */
    get isOpen() {
        return Boolean(this.from || this.own);
    }

    /** Go to a point, from the table of the answers. */
    open(point) {
        this.own = null;
        this.from = this.studio.current;
        this.#go(this.points.indexOf(point));
    }

    /** Go back to where a point was opened; whether it was. */
    back() {
        const { from } = this;
        if (!this.isOpen) {
            return false;
        }
        Object.assign(this, { from: null, own: null, at: 0 });
        this.studio.go(from ?? "try");
        this.studio.stages.try.show();
        return true;
    }

    #go(at) {
        this.at = at;
        this.studio.go("try");
        this.studio.stages.try.show();
    }

    /** Answer to files, of which nothing is kept. */
    async answer(files) {
        const { wire, state, stages } = this.studio;
        stages.try.fail("");
        const { ticket, error } = await wire.drop(files, () => {}).answer;
        const found = ticket ? await wire.ask("try", { ticket, model: state.model }) : { error };
        if (ticket) {
            wire.order("leave", { ticket });
        }
        if (found.error) {
            stages.try.fail(found.error);
            return;
        }
        const reach = ([low, high], at) => rangeOf([low, high, ...found.points.flatMap(({ x }) => (x ? [x[at]] : []))]);
        this.from = null;
        this.own = { ...found, model: state.model, files, ranges: stages.train.answered.ranges?.map(reach) };
        this.#go(0);
        this.says?.focus();
    }

    show(wanted) {
        const key = JSON.stringify([this.studio.stages.train.answered.asked, this.at, this.own?.model, this.points.length, this.from]);
        this.place.hidden = !wanted || !this.studio.model;
        if (this.place.hidden || (this.shown === key && this.showing === this.own && this.place.childElementCount)) {
            return;
        }
        Object.assign(this, { shown: key, showing: this.own });
        this.at = Math.max(0, Math.min(this.at, this.points.length - 1));
        const point = this.points[this.at];
        this.says = make("p", { class: "class", "aria-live": "polite", tabindex: -1 });
        this.note = make("p", { class: "note" });
        this.change = make("p");
        this.x = point?.x && [...point.x];
        const pictured = point && make("div", { class: "panel" }, ...(this.x ? this.#sliders(point) : [drawn(point), point.answers && this.#windows(point)]));
        renew(this.place, make("div", { class: "panel" }, this.says, this.note, this.change, ...this.#ways()), pictured);
        if (point) {
            this.#say(point.said, point.sure, this.#truth(point));
            this.#ask(false);
        } else {
            this.says.textContent = this.own ? "no answer" : "–";
            this.note.textContent = this.own ? `This model answers to ${this.own.wanted}.` : "Choose a file for an answer to it.";
        }
    }

    /** What is known of the right answer. */
    #truth({ actual, said, answers, agree }) {
        if (answers) {
            return `in ${agree} of ${counted(answers.length, "window")}`;
        }
        const isNumber = this.studio.model.predicts === "value";
        return actual === undefined ? "" : actual === said ? "right" : isNumber ? `it is ${short(actual)}` : `wrong: it ${actual ? `is ${actual}` : "has no label"}`;
    }

    /** Other points, and other files. */
    #ways() {
        const { points, at, own } = this;
        const step = (by, sign, words) => button([sign, unseen(words)], () => this.#go(at + by), { class: "quiet", disabled: !points[at + by], "data-key": words });
        const { held } = this.source;
        const some = held > points.length ? `; ${number(held)} were held out` : "";
        const named = own ? points[at]?.name : `${this.studio.state.point} ${at + 1} of ${points.length}${some}`;
        const steps = points.length > 0 && make("div", { class: "row" }, step(-1, "‹", "The one before"), make("span", {}, named), step(1, "›", "The next one"));
        const choose = button("Try a file of your own", () => find("#files").click(), { "data-key": "own" });
        const { stream } = this.studio.state;
        const back = button(stream.running ? "Back to the live answers" : "Back to the test", () => this.back(), { class: "quiet", "data-key": "back" });
        const add = button("Add to the data", () => this.studio.sheet.open(own.files), { "data-key": "add" });
        return [steps, own?.left.length > 0 && leftOut(own.left), make("div", { class: "row" }, choose, own && add, this.isOpen && back)];
    }

    #say(said, sure, more) {
        const { bound, unit } = this.studio.stages.train.facts.value ?? {};
        const digits = (said.split(".")[1] ?? "").length;
        const band = this.studio.model.predicts === "value" && bound && `90 % of such values lie from ${(+said - bound).toFixed(digits)} to ${(+said + bound).toFixed(digits)}`;
        const words = [Number.isFinite(sure) && make("span", {}, bold(`${Math.round(sure)} %`), " sure"), band, more].filter(Boolean);
        this.says.textContent = unit ? `${said} ${unit}` : said || "no label";
        this.note.replaceChildren(...words.flatMap((one, at) => (at ? ["; ", one] : [one])));
    }

    /** The answers to the windows of a take, below its curve. */
    #windows({ answers, n }) {
        const place = make("div", { class: "ribbon", role: "img" });
        ribbon(place, cellsOf(answers, n), "The answers to its windows");
        return place;
    }

    /** A slider for each column, and below it what would be answered if only this column changed. */
    #sliders({ values }) {
        const { ranges } = this.source;
        this.strips = values.map(() => make("div", { class: "ribbon", role: "img" }));
        const rows = values.map(([name], at) => {
            const [low, high] = ranges[at];
            const shown = make("span", {}, short(this.x[at]));
            const slide = ({ target }) => {
                this.x[at] = low + ((high - low) * target.value) / STEPS;
                shown.textContent = short(this.x[at]);
                this.#ask(true);
            };
            const value = Math.round((STEPS * (this.x[at] - low)) / (high - low || 1));
            return make("label", { class: "slider" }, name, shown, make("input", { type: "range", min: 0, max: STEPS, value, "data-key": name, input: slide }), this.strips[at]);
        });
        this.rest = rows.length > SLIDERS && make("details", {}, make("summary", {}, `${rows.length - SLIDERS} more columns, which change the answer less`), ...rows.slice(SLIDERS));
        return [...rows.slice(0, this.rest ? SLIDERS : undefined), this.rest];
    }

    /** Show first the columns that change the answer most. */
    #rank({ said, strips }) {
        const reach = (words) => (isNaN(said) ? words.filter((word) => word !== said).length : Math.max(...words) - Math.min(...words));
        const most = [...strips.keys()].sort((a, b) => reach(strips[b]) - reach(strips[a])).slice(0, SLIDERS);
        this.strips.forEach(({ parentElement: row }, at) => (most.includes(at) ? this.rest.before(row) : this.rest.append(row)));
    }

    /** Ask for the answer to the values that the sliders have. */
    async #ask(moved) {
        if (!this.x) {
            return;
        }
        const { model } = this.studio.state;
        const { ranges } = this.source;
        const asked = [...this.x];
        const found = await this.studio.ask("what_if", { model, x: asked, ranges });
        if (!found || found.error) {
            return;
        }
        if (!moved && this.rest) {
            this.#rank(found);
        }
        if (moved) {
            this.#say(found.said, found.sure, "with these values");
        }
        const isNumber = this.studio.model.predicts === "value";
        const runs = (words) => words.flatMap((label, n) => (n && words[n - 1] === label ? [] : [{ label, n }]));
        const reach = isNumber && rangeOf(found.strips.flat().map(Number));
        found.strips.forEach((words, at) => {
            if (isNumber) {
                course(this.strips[at], words, reach);
                return;
            }
            const cells = runs(words).map(({ label, n }, run, { [run + 1]: next }) => ({ label: label || "none", from: n / words.length, to: (next?.n ?? words.length) / words.length }));
            ribbon(this.strips[at], cells, "If only this changed");
        });
        this.change.textContent = isNumber ? "" : this.#nearest(found, asked, ranges);
    }

    /** The least change of one column that leads to another answer, in words. */
    #nearest({ said, strips }, x, ranges) {
        const changes = strips.flatMap((words, at) => {
            const [low, high] = ranges[at];
            const place = (n) => low + ((high - low) * n) / (words.length - 1);
            return words.map((word, n) => ({ word, at, to: place(n), by: Math.abs(place(n) - x[at]) / (high - low || 1) }));
        });
        const [least] = changes.filter(({ word }) => word !== said).sort((a, b) => a.by - b.by);
        const name = least && this.points[this.at].values[least.at][0];
        return least ? `It becomes ${least.word || "no label"} if ${name} ${least.to > x[least.at] ? "rises" : "falls"} to ${short(least.to)}.` : "";
    }
}

/** Draw how a number changes with one column, on the scale of all columns, between its values at both ends. */
function course(place, numbers, reach) {
    const [first, last] = [numbers[0], numbers.at(-1)];
    place.classList.add("course");
    place.replaceChildren(make("span", {}, first), curve([numbers.map(Number)], [reach]), make("span", {}, last));
    place.setAttribute("aria-label", `If only this changed: from ${first} to ${last}`);
}
