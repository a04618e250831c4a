/* Where samples come from: what the folder states, a dialog to change it, and the order to connect. */
import { button, choice, find, labelled, make, renew } from "/parts.js";

const EMULATED = "";
const LOGGER = ["logger", "upload-logger"]; // the actions that make one

export class Source {
    constructor(studio) {
        this.studio = studio;
        this.button = find("#source");
        this.dialog = find("#source-dialog");
        this.fields = find(".fields", this.dialog);
        this.button.addEventListener("click", () => this.open());
        this.dialog.addEventListener("close", () => this.#closed(this.dialog.returnValue));
    }

    /** What the folder states, and what was chosen in the dialog instead. */
    get known() {
        const { source, boards } = this.studio.state;
        const known = { ...source, ...this.studio.chosen.source };
        return { ...known, title: boards.find(({ name }) => name === known.board)?.title };
    }

    show() {
        const { title, sensors, rate, emulated } = this.known;
        const { running } = this.studio.state.stream;
        find(".led", this.button).classList.toggle("on", Boolean(running));
        find("b", this.button).textContent = emulated ? `Emulated ${title.replace(/^Arduino /, "")}` : title;
        find("small", this.button).textContent = `${sensors.map((name) => this.titleOf(name)).join(", ")}, ${rate} samples a second`;
        const { start } = this.studio.state;
        this.button.parentElement.hidden = start || !(running || !this.studio.data || this.studio.isLive);
        this.button.setAttribute("aria-label", `Samples come from: ${this.button.textContent}${running ? ", connected" : ""}`);
    }

    /** The name of a sensor for people: without the kind, which stands after a comma. */
    titleOf(name) {
        const known = this.studio.state.sensors.find((one) => one.name === name)?.title;
        return known?.split(",")[0] ?? name;
    }

    /** The fields by which an order finds the board, or the emulated one with a file to play. */
    get where() {
        const { sensors, rate, board, port, emulated, play } = this.known;
        const place = emulated ? { played: [`${sensors[0]}=${play}`] } : { port };
        return { sensor: sensors, rate, board: board === "uno" ? undefined : board, ...place };
    }

    /** Have a stage listen to a board; ask where samples come from if nothing has some. */
    async connect(stage, fields) {
        const { ports, play } = this.known;
        if (ports.length || play) {
            await stage.order("connect", { ...fields, ...this.where });
        } else {
            this.open();
        }
    }

    /** Say in a place why no samples come in, with what helps; nothing while firmware of a kind is heard. */
    showOffline(place, live, kind, connect) {
        const { job, state } = this.studio;
        const builds = job.running && LOGGER.includes(job.action);
        const waits = state.stream.running && state.stream.kind === kind;
        const words = builds ? "The logger is being built, then samples come in." : waits ? state.stream.text : "No samples come in now.";
        const text = this.known.emulated ? "Connect the emulated board" : "Connect the board";
        const ways = [button(text, connect, { "data-key": "connect" }), button("Another source", () => this.open(), { class: "quiet", "data-key": "source" })];
        place.hidden = live;
        renew(place, make("p", {}, words), ...(waits || builds ? [] : ways));
    }

    open() {
        const { known } = this;
        const { ports, plays } = this.studio.state.source;
        const all = this.studio.state.sensors;
        const [sensor] = known.sensors;
        const places = [[EMULATED, "the emulated board"], ...ports.map(({ port, what }) => [port, `${what || "a board"} on ${port}`])];
        const files = plays.length ? plays.map((name) => [name, name]) : [["", "no file of samples in the folder"]];
        const from = choice("port", places, known.emulated ? EMULATED : (known.port ?? ports[0]?.port), () => this.#places());
        this.plays = labelled("Its sensor plays", choice("play", files, known.play));
        const own = all.some(({ name }) => name === sensor) ? [] : [[sensor, sensor]];
        const options = [...own, ...all.map(({ name, title }) => [name, title])];
        const boards = this.studio.state.boards.filter(({ sensors: reads }) => reads !== false).map(({ name, title }) => [name, title]);
        this.fields.replaceChildren(
            labelled("Samples from", from),
            this.plays,
            labelled("Sensor", choice("sensor", options, sensor)),
            labelled("Samples a second", make("input", { name: "rate", type: "number", min: "0.001", step: "any", value: known.rate })),
            labelled("Board", choice("board", boards, known.board)),
        );
        const nothing = !ports.length && !plays.length;
        find(".lead", this.dialog).textContent = nothing
            ? "No board is on USB, and the folder has no file that an emulated sensor can play. Connect a board, or drop a file of samples on the page."
            : "The logger is built, and uploaded, when you connect.";
        find("[value=connect]", this.dialog).disabled = nothing;
        find("[value=disconnect]", this.dialog).hidden = !this.studio.state.stream.running;
        this.#places();
        this.dialog.returnValue = "";
        this.dialog.showModal();
    }

    #places() {
        this.plays.hidden = find("[name=port]", this.fields).value !== EMULATED;
    }

    async #closed(pressed) {
        if (pressed === "disconnect") {
            await this.studio.wire.order("disconnect");
        }
        if (pressed !== "connect") {
            return;
        }
        const field = (name) => find(`[name=${name}]`, this.fields).value;
        const [board, sensor, port] = ["board", "sensor", "port"].map(field);
        const source = { board, sensors: [sensor], rate: +field("rate") };
        await this.studio.choose({ source: { ...source, port: port || undefined, emulated: port === EMULATED, play: field("play") } });
        this.studio.go("data");
        await this.studio.stages.data.connect();
    }
}
