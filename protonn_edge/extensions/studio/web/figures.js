/* The figures of a model and of its build in words, the same on all screens. */
import { bold, brief, make, number, percent, short, small } from "/parts.js";

/** How good a model is: [figure, unit, words]; null if nothing was held out for a test. */
function goodness({ n, right, share, recall, low, high, value } = {}, of) {
    if (Number.isFinite(share)) {
        const interval = low === undefined ? "" : `; ${percent(low)} to ${percent(high)} at 95 % confidence`;
        const sets = `of the labels it gives to ${number(n)} ${of}; it finds ${percent(recall)} of all`;
        return [(100 * share).toFixed(1), "% right", recall === undefined ? `${number(right)} of ${number(n)} ${of}${interval}` : sets];
    }
    if (!value) {
        return null;
    }
    const { bound, error, mean_error: mean, unit = "" } = value;
    const least = mean ? `, or ${short(mean)} for always saying the mean` : "";
    const within = bound ? "90 % of new values lie within; " : "";
    return [`±${short(bound ?? error)}`, unit ?? "", `${within}mean error ${short(error)}${least}`];
}

/** What a build takes of its board: flash, SRAM with the stack, and time, each in `used` and `limit`. */
export function costs(build) {
    const { flash_bytes, flash_limit, sram_bytes, stack_bytes, sram_limit, ms, hop, rate } = build;
    const between = hop && rate ? (1000 * hop) / rate : null;
    const all = {
        flash: { used: flash_bytes, limit: flash_limit, unit: "B", of: `of ${number(flash_limit)} B` },
        SRAM: { used: sram_bytes + stack_bytes, limit: sram_limit, unit: "B", of: `of ${number(sram_limit)} B` },
        time: { used: ms, limit: between, unit: "ms", of: between ? `of ${number(Math.round(between))} ms between two answers` : "" },
    };
    return ms ? all : { flash: all.flash, SRAM: all.SRAM };
}

/** The three answers to a model: good, fast, fits. Those of a build wait for it, in some words, and with a bar while it is checked. */
export function answers(facts, build, { of, waits, checking = false, caution = "" }) {
    const answer = (name, mark, [figure, unit, words], ...more) => {
        const head = make("dt", {}, make("span", { class: mark === "!" ? "caution" : "tick" }, mark), name);
        return make("div", {}, head, make("dd", {}, bold(figure), ` ${unit}`, small(words), ...more));
    };
    const good = goodness(facts, of) ?? ["–", "", "no point was held out for a test"];
    const first = answer("Good?", caution ? "!" : "✓", good, caution && make("small", { class: "caution" }, caution));
    if (!build?.flash_bytes) {
        const bar = checking && make("progress", { max: 1, "aria-label": "Fast? Fits?" });
        return [first, make("div", { class: "later" }, make("dt", {}, "Fast? Fits?"), make("dd", {}, bar, small(waits)))];
    }
    const { time } = costs(build);
    const { flash_share: flash, sram_share: sram, title } = build;
    const share = Math.max(flash, sram);
    const fast = time ? [digits(time), "ms", ["at most", time.of].filter(Boolean).join(", ")] : ["–", "", "unknown"];
    const fits = [`${Math.round(100 * share)}`, "%", `of the ${flash > sram ? "flash" : "SRAM"} of the ${title.replace(/^Arduino /, "")}`];
    return [first, answer("Fast?", "✓", fast), answer("Fits?", share > 1 ? "!" : "✓", fits)];
}

export const digits = ({ used, unit }) => (unit === "ms" ? brief(used) : number(used));
