/* What the Uno answered: class, scores, cycles, time, energy, and the light. */

const MANY = 12; // classes that are all shown
const SHOWN = 8; // of more
const LIGHT_MS = 300;

export class ResultView {
    constructor(root, payload) {
        this.root = root;
        this.classes = payload.model.classes;
        this.board = payload.board;
        this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    }

    /** @param answer What `Device.classify` gives. @param point The test point, or undefined. */
    show(answer, point) {
        const ms = (1000 * answer.cycles) / this.board.clockHz;
        const mj = this.board.watts * ms;
        const [name, cycles] = [this.classes[answer.label] ?? "unknown", answer.cycles.toLocaleString("en")];
        this.part("label").textContent = name;
        this.part("label").classList.toggle("long", name.length > 4);
        this.part("cycles").textContent = cycles;
        this.part("ms").textContent = ms.toFixed(3);
        this.part("mj").textContent = mj.toFixed(4);
        this.#light(answer.lit > 0);
        const lit = ((1000 * answer.lit) / this.board.clockHz).toFixed(3);
        this.part("pin").textContent = `Pin 8 was high for ${lit} ms.`;
        this.part("agreement").textContent = point ? this.#agreement(answer, point) : "";
        this.#scores(answer);
        this.part("said").textContent = `${name}, in ${cycles} cycles`;
        Object.assign(this.root.dataset, {
            label: answer.label,
            cycles: answer.cycles,
            scores: answer.scores.join(" "),
            point: point ? point.index : "",
        });
    }

    /** Light up for long enough to be seen; the firmware's own light is on for less than a frame. */
    #light(lit) {
        clearTimeout(this.fading);
        this.part("led").classList.toggle("lit", lit);
        this.fading = setTimeout(() => this.part("led").classList.remove("lit"), LIGHT_MS);
    }

    clear() {
        for (const name of ["label", "cycles", "ms", "mj"]) {
            this.part(name).textContent = "–";
        }
        for (const name of ["agreement", "pin", "said"]) {
            this.part(name).textContent = "";
        }
        this.part("scores").replaceChildren();
        for (const key of ["label", "cycles", "scores", "point"]) {
            delete this.root.dataset[key];
        }
    }

    #agreement(answer, point) {
        const is = `Test point ${point.index} is ${this.classes[point.label] ?? "unknown"}. `;
        const differs = [
            ["class", answer.label === point.predicted],
            ["scores", !point.scores || point.scores.join() === answer.scores.join()],
            ["cycles", answer.cycles === point.cycles],
        ].filter(([, same]) => !same);
        return differs.length
            ? `${is}In the results file are other ${differs.map(([what]) => what).join(" and ")}.`
            : `${is}Class, scores and cycles are those of the results file.`;
    }

    #scores({ scores, label }) {
        const order = [...scores.keys()];
        if (scores.length > MANY) {
            order.sort((a, b) => scores[b] - scores[a]).splice(SHOWN);
        }
        const [low, high] = [Math.min(0, ...scores), Math.max(1, ...scores)];
        const rows = order.map((i) => {
            const row = document.createElement("li");
            const parts = ["name", "bar", "score"].map((name) => {
                const part = row.appendChild(document.createElement("span"));
                part.className = name;
                return part;
            });
            row.classList.toggle("winner", i === label);
            parts[0].textContent = this.classes[i];
            const share = (100 * (scores[i] - low)) / (high - low);
            parts[1].style.setProperty("--share", `${share}%`);
            parts[2].textContent = scores[i].toLocaleString("en");
            return row;
        });
        this.part("scores").replaceChildren(...rows);
    }
}
