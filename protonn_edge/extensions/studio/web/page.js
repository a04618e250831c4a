/* The studio's page. The folder is the state: whenever something changes, the page asks for it again. */
import { Building, LiveClasses, Models, Report } from "/board.js";
import { Listing } from "/listing.js";
import { find } from "/parts.js";
import { Recording } from "/record.js";
import { Takes } from "/takes.js";
import { Training } from "/train.js";
import { Wire } from "/wire.js";

const CALM_MS = 100;
const LINES = 200; // of the log

const wire = new Wire();
const takes = new Takes(wire);
const recording = new Recording(wire);
const training = new Training(wire);
const stages = [recording, training, new LiveClasses(wire, recording), new Building(wire, recording), new Report(wire, recording, training)];
const models = new Models(wire, training);
new Listing(find("#terminal .listing"));

async function renew() {
    const state = await wire.ask("state", {}, true);
    if (!state) {
        return;
    }
    find("#folder").textContent = state.folder;
    document.title = `${state.folder} · protonn-edge studio`;
    takes.offer(state.files.filter(({ kind }) => kind === "recording" || kind === "takes").map(({ name }) => name));
    stages.forEach((stage) => stage.offer(state));
    if (state.job.line) {
        show(state.job);
    }
    await takes.show();
    await models.offer(state);
}

let timer = 0;
function soon() {
    clearTimeout(timer);
    timer = setTimeout(renew, CALM_MS);
}

let told = "";
function show(job) {
    const running = job.state === "running";
    find("#job").hidden = !running && job.state !== "failed";
    find("#job-title").textContent = running ? `Running: ${job.action}` : `Failed: ${job.action}`;
    find("#job-stop").hidden = !running;
    find("#job-stop").textContent = job.action === "train" ? "Stop, and keep the best model" : `Stop: ${job.action}`;
    const { task, done, total, note } = job.progress ?? {};
    const bar = find("#job-bar");
    bar.hidden = !running;
    if (total) {
        Object.assign(bar, { max: total, value: done });
    } else {
        bar.removeAttribute("value");
    }
    const progress = total ? `${task}: ${done} of ${total}. ${note ?? ""}` : (task ?? job.note ?? "");
    find("#job-text").textContent = running ? progress : (job.record?.error ?? "");
    const line = `${job.number} ${job.line}`;
    if (told !== line && running) {
        told = line;
        write(job.line);
    }
}

function write(line) {
    const log = find("#log");
    log.textContent = [...log.textContent.split("\n"), line].filter(Boolean).slice(-LINES).join("\n");
}

wire.on("job", ({ job }) => {
    show(job);
    if (job.state !== "running") {
        find("#error").textContent = job.record?.error ?? "";
        soon();
    }
});
wire.on("line", ({ line }) => write(line));
wire.on("changed", soon);
wire.on("error", ({ error }) => (find("#error").textContent = error));
wire.on("warning", ({ warning }) => (find("#error").textContent = warning));
wire.on("connected", ({ connected }) => {
    find("#connection").textContent = connected ? "" : "the studio does not answer; trying again";
    if (connected) {
        soon();
    }
});
wire.on("refused", ({ refused }) => (find("#connection").textContent = refused));
find("#job-stop").addEventListener("click", () => wire.order("stop"));

async function drop(files) {
    for (const file of files) {
        await wire.drop(file);
    }
}
find("#files").addEventListener("change", ({ target }) => drop(target.files));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
    event.preventDefault();
    drop(event.dataTransfer.files);
});
window.studio = { recording }; // for tests: how many samples came and were drawn
wire.listen();
