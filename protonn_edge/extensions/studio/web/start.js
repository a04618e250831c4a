/* The start, while the folder has nothing: sample data, files, or a board. */
import { all, find, make } from "/parts.js";
import { Stage } from "/stage.js";

export class Start extends Stage {
    constructor(studio, name) {
        super(studio, name);
        find("#start-files").addEventListener("click", () => find("#files").click());
        find("#start-folder").addEventListener("click", () => find("#folders").click());
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
}
