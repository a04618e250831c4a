/* The sheet after a drop: what it is, a preview, at most two questions that are answered already, one button. */
import { all, bold, button, choice, counted, curve, find, make, picture, rangeOf, renew } from "/parts.js";

const PATIENCE_MS = 300; // before a bar is shown
const OPENED = 4; // files that were left out, which are listed at once
const LISTED = 50;
const MEGA = 2 ** 20;
const SHOWN_FROM = 4 * MEGA; // bytes whose way is counted

const some = (reader) => new Promise((done, fail) => reader.readEntries(done, fail)); // of its entries at a time

async function* below(entry, above = "") {
    if (entry.isFile) {
        yield [above + entry.name, await new Promise((done, fail) => entry.file(done, fail))];
        return;
    }
    const reader = entry.createReader();
    for (let entries = await some(reader); entries.length; entries = await some(reader)) {
        for (const one of entries) {
            yield* below(one, `${above}${entry.name}/`);
        }
    }
}

/** The files of a drop, or those that were chosen, with their folders: [name, file]. */
export async function filesOf({ items = [], files = [] }) {
    const roots = [...items].map((one) => one.webkitGetAsEntry?.()).filter(Boolean); // which end with the event
    const found = roots.length ? [] : [...files].map((file) => [file.webkitRelativePath || file.name, file]);
    for (const root of roots) {
        for await (const one of below(root)) {
            found.push(one);
        }
    }
    return found;
}

export class Sheet {
    constructor(studio) {
        this.studio = studio;
        this.dialog = find("#sheet");
        this.dialog.addEventListener("cancel", (event) => {
            event.preventDefault();
            this.close();
        });
        this.dialog.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && !event.target.closest("button, select, summary")) {
                event.preventDefault();
                find(".primary", this.dialog)?.click();
            }
        });
    }

    /** Send files to a place of their own, and show what they are. */
    async open(files) {
        if (this.sending) {
            return;
        }
        this.close();
        this.picked = {};
        const said = make("span", { role: "status" });
        const bar = make("progress", { max: 1, value: 0, "aria-label": "The files" });
        const bytes = files.reduce((sum, [, { size }]) => sum + size, 0);
        const slow = setTimeout(() => this.#wait(files.length, bar, said), PATIENCE_MS);
        const sent = (part) => {
            bar.value = part;
            said.textContent = bytes > SHOWN_FROM ? `${Math.round((part * bytes) / MEGA)} of ${Math.round(bytes / MEGA)} MB` : "";
        };
        this.sending = this.studio.wire.drop(files, sent);
        const { ticket, error } = await this.sending.answer;
        clearTimeout(slow);
        this.sending = null;
        if (ticket) {
            this.ticket = ticket;
            await this.#look();
        } else if (error) {
            this.#show(refused(error));
        }
    }

    #wait(n, bar, said) {
        const stop = button("Stop", () => this.close());
        this.dialog.replaceChildren(this.#title(`Looking at ${counted(n, "file")}`), make("div", { class: "job" }, bar, said, stop));
        this.#appear(stop);
    }

    #title(words) {
        return make("h2", { id: "sheet-h", tabindex: -1 }, words);
    }

    #appear(place = find("h2", this.dialog)) {
        if (!this.dialog.open) {
            this.dialog.showModal();
        }
        place.focus();
    }

    get #asked() {
        return { ticket: this.ticket, picked: this.picked, data: this.studio.state.data };
    }

    async #look(more = {}) {
        Object.assign(this.picked, more);
        const asked = (this.asking = { ...this.#asked, picked: { ...this.picked } });
        const sheet = await this.studio.wire.ask("look", asked);
        if (asked !== this.asking || !this.ticket) {
            return; // another answer was picked meanwhile
        }
        const at = this.dialog.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
        this.#show(sheet.error ? refused(sheet.error) : sheet);
        all("[data-key]", this.dialog).find((one) => at && one.dataset.key === at)?.focus();
    }

    #show(sheet) {
        this.sheet = sheet;
        const { title, lead, primary, classes, channels = [], preview, questions, notes, left, others } = sheet;
        const again = () => {
            this.close();
            find("#files").click();
        };
        this.alarm = make("div", { role: "alert" });
        const press = primary ? button(primary, () => this.#keep(), { class: "primary", "data-key": "primary" }) : button("Choose other files", again, { class: "primary" });
        const other = ([value, words]) => button(words, () => this.#look({ as: value }), { class: "quiet end", "data-key": "other" });
        renew(
            this.dialog,
            this.#title(title),
            make("p", { class: "lead" }, lead),
            preview && firstRows(preview),
            classes.length > 0 && make("ul", { class: "rows brief", "aria-label": "Classes" }, ...classes.map((one) => this.#class(one))),
            channels.length > 0 && make("ul", { class: "key", "aria-label": "Channels" }, ...channels.map((name, at) => make("li", {}, make("span", { class: `swatch own c${at % 12}` }), name))),
            questions.length > 0 && make("div", { class: "row asks" }, ...questions.flatMap((one) => this.#ask(one))),
            ...notes.map((text) => make("p", { class: "note" }, text)),
            left.length > 0 && leftOut(left),
            this.alarm,
            make("div", { class: "row last" }, press, button(primary ? "Cancel" : "Close", () => this.close(), { class: "quiet", "data-key": "cancel" }), ...others.map(other)),
        );
        this.#appear();
    }

    #class({ name, n, shown }) {
        const scales = rangeOf(shown.flatMap(({ curves = [] }) => curves.flat()));
        const thumb = ({ curves, image, width, who, seconds }) =>
            image
                ? make("li", {}, picture(image, width, [0, 255]))
                : make("li", {}, make("div", { class: "thumb" }, curve(curves, curves.map(() => scales)), make("span", {}, who, make("i", {}, seconds ? `${+seconds.toFixed(1)} s` : ""))));
        const heading = make("h3", {}, make("span", { class: "name" }, name || "no name yet"), make("small", {}, counted(n, this.sheet.unit)));
        return make("li", {}, heading, make("ul", { class: "strip-of" }, ...shown.map(thumb)));
    }

    #ask({ name, words, options, value, then }) {
        if (!options.length) {
            const typed = ({ target }) => {
                this.picked[name] = target.value.trim();
                find(".rows .name", this.dialog).textContent = this.picked[name] || "no name yet";
            };
            return [make("label", {}, `${words} `, make("input", { type: "text", value, placeholder: "a class, such as swing", "data-key": name, input: typed }))];
        }
        const more = then ? this.#ask(then) : [];
        if (options.length < 2) {
            return [make("span", {}, `${words} `, bold(options[0][1])), ...more];
        }
        const change = (chosen) => this.#look(name === "column" ? { column: chosen, target: "" } : { [name]: chosen });
        return [make("label", {}, `${words} `, choice(name, options, value, change)), ...more];
    }

    /** Keep all that is shown, and go on with it. */
    async #keep() {
        const { label } = this.picked;
        if (this.sheet.needs && !label) {
            this.alarm.replaceChildren(make("p", { class: "notice" }, this.sheet.needs));
            find("input", this.dialog).focus();
            return;
        }
        if (this.keeping) {
            return; // Enter was pressed twice
        }
        this.keeping = this.studio.wire.order("keep", this.#asked);
        const kept = await this.keeping;
        this.keeping = null;
        if (kept.error) {
            this.alarm.replaceChildren(make("p", { class: "notice error" }, kept.error));
            return;
        }
        this.ticket = null;
        this.dialog.close();
        await this.studio.added(kept, this.sheet);
    }

    /** Close it; what was not kept is removed. */
    close() {
        this.sending?.stop();
        if (this.ticket) {
            this.studio.wire.order("leave", { ticket: this.ticket });
        }
        this.ticket = null;
        this.dialog.close();
    }
}

const refused = (error) => ({ title: "These files cannot be read", lead: `${error}.`, classes: [], questions: [], notes: [], left: [], others: [] });

function firstRows({ head, rows }) {
    const kind = (why) => (why === "the answer" ? "answer" : why ? "out" : "");
    const heads = head.map(([name, why]) => make("th", { scope: "col", class: kind(why) }, name, make("small", {}, why)));
    const cells = (row) => make("tr", {}, ...head.map(([, why], at) => make("td", { class: kind(why) }, row[at] ?? "")));
    const table = make("table", { class: "first" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows.map(cells)));
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "First rows" }, table);
}

export function leftOut(left) {
    const list = left.slice(0, LISTED).map(([name, why]) => make("li", {}, bold(name.split("/").at(-1)), ` ${why}`));
    return make("details", { class: "left", open: left.length < OPENED }, make("summary", {}, `${counted(left.length, "file")} left out`), make("ul", { class: "note" }, ...list));
}
