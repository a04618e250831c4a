/* The drawer: the command lines of what was done, by stage. The last one shows while it is closed. */
import { all, button, find, make } from "/parts.js";

const SAID_MS = 2000;

export class Drawer {
    constructor(names) {
        this.names = names;
        this.element = find("#drawer");
        this.list = find("#commands");
        this.log = [];
    }

    /** Show entries of the log, the newest last, and the line that runs now. */
    show(log, job) {
        const lines = log.filter(({ line }) => line).map(({ stage, line, error }) => ({ stage, line, error }));
        if (job.state === "running" && job.line) {
            lines.push({ stage: job.stage, line: job.line });
        }
        find("code", this.element).textContent = lines.at(-1)?.line ?? "";
        this.element.hidden = !lines.length;
        const shown = JSON.stringify(lines);
        if (shown === this.shown) {
            return;
        }
        this.shown = shown;
        const end = this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 40;
        this.list.replaceChildren(...lines.map((one) => this.#item(one)));
        if (end) {
            this.list.scrollTop = this.list.scrollHeight;
        }
    }

    #item({ stage, line, error }) {
        const copy = button("Copy", () => this.#copy(copy, line), { "aria-label": `Copy: ${line}` });
        return make(
            "li",
            {},
            make("span", {}, this.names[stage] ?? ""),
            make("code", {}, line, error && make("small", { class: "alarm" }, error)),
            copy,
        );
    }

    async #copy(place, line) {
        try {
            await navigator.clipboard.writeText(line);
            place.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(place.previousElementSibling);
            place.textContent = "Selected";
        }
        setTimeout(() => (place.textContent = "Copy"), SAID_MS);
    }

    toggle() {
        this.element.open ^= true;
        if (this.element.open) {
            all("button", this.list).at(-1)?.scrollIntoView({ block: "nearest" });
        }
    }
}
