/* Commands and code in the page, each with a copy button. */

const SAID_MS = 2000; // for which the button shows the result

export class Listing {
    /** @param {HTMLElement} element Contains the text in a <pre>. */
    constructor(element) {
        this.text = element.querySelector("pre");
        this.button = document.createElement("button");
        this.button.type = "button";
        this.said = document.createElement("span");
        this.said.className = "unseen";
        this.said.setAttribute("role", "status");
        this.name = `Copy ${this.text.getAttribute("aria-label").toLowerCase()}`;
        this.say("Copy");
        this.button.addEventListener("click", () => this.copy());
        element.querySelector("div").append(this.button, this.said);
    }

    async copy() {
        try {
            await navigator.clipboard.writeText(this.text.textContent);
            this.say("Copied", true);
        } catch {
            // Without access to the clipboard, the text is selected, to be copied with the keys.
            getSelection().selectAllChildren(this.text);
            this.say("Selected", true);
        }
    }

    say(word, aloud = false) {
        this.button.textContent = word;
        this.button.setAttribute("aria-label", aloud ? word : this.name);
        this.said.textContent = aloud ? word : "";
        clearTimeout(this.timer);
        if (aloud) {
            this.timer = setTimeout(() => this.say("Copy"), SAID_MS);
        }
    }
}
