/* The start, while the folder has nothing: sample data, a board, or a file. The curve is an example. */
import { all, find, make } from "/parts.js";
import { ribbon, Scope, WITH_WORDS } from "/scope.js";
import { Stage } from "/stage.js";

export class Start extends Stage {
    constructor(studio, name) {
        super(studio, name);
        this.scope = new Scope(find("#demo"), WITH_WORDS);
        find("#start-files").addEventListener("click", () => find("#files").click());
        find("#start-connect").addEventListener("click", () => this.#connect());
    }

    show() {
        const [port] = this.studio.state.source.ports ?? [];
        find("#found").textContent = port ? `${port.what || "A board"} found on ${port.port}.` : "None is connected now.";
        const [title, words] = all(".doors li:first-child :is(h2, p)", this.section);
        this.sample ??= [title.textContent, words.textContent];
        const { start } = this.studio.state;
        const shown = start ? this.sample : ["Go on", "This folder has data already. Sample data begin in an empty folder."];
        [title.textContent, words.textContent] = shown;
        this.showActions();
    }

    actions() {
        const { start } = this.studio.state;
        const text = start ? "Start with the sample" : "Go on with your data";
        const press = () => (start ? this.perform() : this.studio.go("data"));
        return [make("button", { type: "button", class: "primary", click: press, "data-key": "primary" }, text)];
    }

    async perform() {
        if (await this.order("sample")) {
            await this.studio.renew();
            this.studio.go("data");
        }
    }

    async #connect() {
        this.fail("");
        const { ports } = this.studio.state.source;
        if (ports?.length === 1) {
            this.studio.go("data");
            await this.studio.stages.data.connect();
        } else {
            this.studio.source.open();
        }
    }

    /** Draw the example, with the answers of a model below. */
    async enter() {
        const { channels, rate, samples, course, error } = await this.wire.ask("example");
        if (error) {
            return;
        }
        this.scope.seconds = samples.length / rate;
        this.scope.begin({ channels, rate });
        this.scope.rows = [];
        this.scope.add({ samples, first: 0, n: samples.length, step: 1 });
        let from = 0;
        const cells = course.map(([label, seconds]) => ({ label, sure: 0.8, from, to: (from += seconds / this.scope.seconds) }));
        ribbon(find("#demo-ribbon"), cells);
    }
}
