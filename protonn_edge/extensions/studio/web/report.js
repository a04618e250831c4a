/* The report: the measurement on a board, its proof and its warnings, and the page with all of it. */
import { answers } from "/figures.js";
import { button, counted, find, make } from "/parts.js";
import { Stage } from "/stage.js";

const RESULTS = "results.csv";
const PROJECT = "measured";

export class Report extends Stage {
    async perform(run) {
        if (run === "open") {
            return this.#open();
        }
        const { studio } = this;
        const { state } = studio;
        const { board, port, played } = studio.source.where;
        const place = played ? { emulated: "yes" } : { port };
        return this.run([
            ["build-points", { model: state.model, project: PROJECT, board }],
            ["measure", { points: state.points, project: PROJECT, results: RESULTS, board, ...place }],
            ["report", { points: state.points, project: PROJECT, results: RESULTS }],
        ]);
    }

    async #open() {
        const shown = await this.order("show", { name: this.studio.state.report ?? "report.html" });
        if (shown) {
            window.open(shown.address, "_blank", "noopener");
        }
    }

    show() {
        super.show();
        const { state } = this.studio;
        const results = this.studio.file(state.results);
        const measured = this.studio.file(PROJECT);
        const proof = find("#proof");
        proof.hidden = !results?.n;
        find("#about-report").hidden = !state.report;
        if (results?.n) {
            const { n, mismatches } = results;
            proof.classList.toggle("broken", mismatches > 0);
            proof.replaceChildren(make("span", {}, mismatches ? "!" : "✓"), ` NumPy = C = ${measured?.title ?? "board"}: ${counted(n, this.studio.state.point)}, ${counted(mismatches, "mismatch", "mismatches")}.`);
        }
        const of = `${this.studio.state.point}s`;
        find("#measured").replaceChildren(...(results?.n ? answers(state.stages.train.facts, this.studio.file(state.project), { of, waits: "" }) : []));
    }

    helpsFor({ action }) {
        const stage = { windows: "train", train: "train", data: "data", build: "board" }[action];
        return stage ? [button("Show it there", () => this.studio.go(stage))] : [];
    }
}
