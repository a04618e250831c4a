/* What the Uno answered: class or number, scores, confidence, cycles, time, energy, and the light. */
import { percents } from "./confidence.js";
import { ValueScale } from "./value.js";

const MANY = 12; // classes that are all shown
const SHOWN = 8; // of more
const LIGHT_MS = 300;
const EARLY = 0.98; // of the cycles: below it, some are of the time in which the input arrives

/** Whole percents, of which 0 and 100 would say too much. */
const rounded = (percent) => (percent > 99 ? "over 99 %" : percent < 1 ? "under 1 %" : `${percent} %`);

export class ResultView {
    constructor(root, payload) {
        this.root = root;
        this.classes = payload.model.classes;
        this.confidence = payload.model.confidence;
        this.value = payload.model.value && new ValueScale(payload.model.value);
        this.board = payload.board;
        this.part = (name) => root.querySelector(`[data-part="${name}"]`);
        this.part("sure").parentElement.hidden = !this.confidence;
    }

    /** @param answer What `Device.classify` gives. @param point The test point, or undefined. */
    show(answer, point) {
        const ms = (1000 * answer.cycles) / this.board.clockHz;
        const mj = this.board.watts * ms;
        const [name, cycles] = [this.#answer(answer), answer.cycles.toLocaleString("en")];
        this.part("label").textContent = name;
        this.part("label").className = name.length > 16 ? "longer" : name.length > 4 ? "long" : "";
        this.#verdict(answer, point);
        this.part("cycles").textContent = cycles;
        this.part("ms").textContent = ms.toFixed(3);
        this.part("mj").textContent = mj.toFixed(4);
        this.#sure(answer);
        this.#light(answer.lit > 0);
        const lit = ((1000 * answer.lit) / this.board.clockHz).toFixed(3);
        const early = answer.lit < EARLY * answer.cycles;
        this.part("pin").textContent = `Pin 8 was high for ${lit} ms${
            early ? "; the rest of the work was done while the input arrived" : ""
        }.`;
        this.part("agreement").textContent = point ? this.#agreement(answer, point) : "";
        this.#scores(answer);
        this.part("said").textContent = `${name}, in ${cycles} cycles`;
        this.part("strip").textContent = `${name} · ${cycles} cycles`;
        Object.assign(this.root.dataset, {
            label: answer.label,
            cycles: answer.cycles,
            scores: answer.scores.join(" "),
            point: point ? point.index : "",
        });
    }

    #answer({ label, scores }) {
        return this.value ? this.value.words(scores[0]) : (this.classes[label] ?? "unknown");
    }

    /** Light up for long enough to be seen; the firmware's own light is on for less than a frame. */
    #light(lit) {
        clearTimeout(this.fading);
        this.part("led").classList.toggle("lit", lit);
        this.fading = setTimeout(() => this.part("led").classList.remove("lit"), LIGHT_MS);
    }

    /** Show the confidence in a class of the model; 100 would be rounded. */
    #sure({ label, scores }) {
        const isKnown = this.confidence && label < this.classes.length;
        const sure = isKnown ? percents(scores, this.confidence)[label] : null;
        this.part("sure").textContent = sure === null ? "–" : rounded(sure);
    }

    clear() {
        for (const name of ["label", "cycles", "ms", "mj", "sure"]) {
            this.part(name).textContent = "–";
        }
        for (const name of ["agreement", "pin", "said", "strip", "verdict"]) {
            this.part(name).textContent = "";
        }
        this.part("scores").replaceChildren();
        for (const key of ["label", "cycles", "scores", "point"]) {
            delete this.root.dataset[key];
        }
    }

    /** Say whether the answer to a test point is right, or the error of a number: wrong is one out of the interval. */
    #verdict(answer, point) {
        if (this.value) {
            const error = point === undefined || point.true === null ? null : this.value.of(answer.scores[0]) - point.true;
            this.root.classList.toggle("wrong", error !== null && !this.value.covers(error));
            this.part("verdict").textContent = error === null ? ""
                : `true ${point.true}, error ${error > 0 ? "+" : ""}${this.value.text(error)}`;
            return;
        }
        const wrong = point !== undefined && answer.label !== point.label;
        this.root.classList.toggle("wrong", wrong);
        const right = point === undefined ? "" : "right";
        this.part("verdict").textContent = wrong ? `wrong: it is ${this.classes[point.label] ?? "unknown"}` : right;
    }

    #agreement(answer, point) {
        const differs = [
            [this.value ? "number" : "class", answer.label === point.predicted],
            ["scores", !point.scores || point.scores.join() === answer.scores.join()],
            ["cycles", answer.cycles === point.cycles],
        ].filter(([, same]) => !same);
        return differs.length
            ? `The results file has different ${differs.map(([what]) => what).join(" and ")}.`
            : `${this.value ? "Number, score" : "Class, scores"} and cycles match the results file.`;
    }

    #scores({ scores, label }) {
        const order = [...scores.keys()];
        if (scores.length > MANY) {
            order.sort((a, b) => scores[b] - scores[a]).splice(SHOWN);
        }
        const [low, high] = [Math.min(0, ...scores), Math.max(0, ...scores)];
        const share = (score) => (100 * (score - low)) / (high - low || 1);
        const shares = this.confidence ? percents(scores, this.confidence) : null;
        const rows = order.map((i) => {
            const row = document.createElement("li");
            const parts = ["name", "bar", "score", "share"].map((name) => {
                const part = row.appendChild(document.createElement("span"));
                part.className = name;
                return part;
            });
            row.classList.toggle("winner", i === label);
            parts[0].textContent = this.classes[i];
            const [from, to] = [share(Math.min(0, scores[i])), share(Math.max(0, scores[i]))];
            for (const [name, value] of Object.entries({ zero: share(0), from, to })) {
                parts[1].style.setProperty(`--${name}`, `${value}%`);
            }
            parts[2].textContent = scores[i].toLocaleString("en");
            parts[3].textContent = shares ? rounded(shares[i]) : "";
            return row;
        });
        this.part("scores").replaceChildren(...rows);
    }
}
