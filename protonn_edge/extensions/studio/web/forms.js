/* Forms of actions: what they hold becomes the command line below them, and runs. */
import { Listing } from "/listing.js";
import { find, make } from "/parts.js";

const CALM_MS = 150; // after the last change of a field

export class ActionForm {
    /** @param {() => [string, object][]} steps The actions and their fields, as the form stands. */
    constructor(form, wire, steps) {
        Object.assign(this, { form, wire, steps });
        const name = find("h2, h3", form.closest("section")).textContent;
        this.text = make("pre", { "aria-label": `Command: ${name}`, tabindex: 0, role: "group" });
        const element = make("div", { class: "listing" }, make("div", {}, "Command"), this.text);
        form.append(element);
        new Listing(element);
        form.addEventListener("input", () => this.renew());
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.wire.run(this.steps());
        });
    }

    /** Show the command lines of the form's actions. */
    renew() {
        clearTimeout(this.timer);
        this.timer = setTimeout(async () => {
            const answer = await this.wire.ask("lines", { steps: this.steps() }, true);
            const lines = answer?.lines.length ? answer.lines : [`# ${answer?.missing ?? ""}`];
            this.text.textContent = lines.join("\n");
        }, CALM_MS);
    }

    /** Call a function when the button of an order is pressed. */
    press(order, pressed) {
        find(`[data-do="${order}"]`, this.form).addEventListener("click", pressed);
    }
}
