/* The answers of a model to points that it has not seen: a table to press, or values in a plane. */
import { button, counted, curve, draw, fill, find, make, percent, picture, rangeOf, renew, short, small, unseen } from "/parts.js";

const PAIRS = 300;
const LEVEL = 5; // classes, whose names fit side by side
const SIDE = 300; // of the plane
const NAMED = 12; // columns of a row
const SHOWN = 12; // points of a number of the table

export class Result {
    constructor(studio) {
        this.studio = studio;
    }

    /** Ask for the answers again, if the model or its points have changed. */
    async show() {
        const { state, model } = this.studio;
        const key = JSON.stringify([state.model, state.points, model.at, model.current]);
        if (this.asked === key) {
            return;
        }
        Object.assign(this, { asked: key, points: [], tested: [] });
        ["#matrix", "#cell"].forEach((id) => (find(id).hidden = !state.points));
        find("#each").hidden = true; // until there are classes
        if (!state.points) {
            return;
        }
        const found = await this.studio.ask("figures", { model: state.model, points: state.points });
        if (!found) {
            this.asked = this.asked === key ? "" : this.asked;
            return;
        }
        find("#each").hidden = !found.classes;
        Object.assign(this, { ranges: found.ranges, held: found.held });
        if (found.error) {
            find("#matrix").replaceChildren(make("p", { class: "note" }, `The answers cannot be shown: ${found.error}`));
            find("#cell").replaceChildren();
        } else if (found.classes) {
            this.#showClasses(found);
        } else {
            this.#showValues(found);
        }
        this.studio.stages.try.show();
    }

    /** What was answered: what training held out or, if these points are gone, all that there are. */
    get #tested() {
        const { state, model } = this.studio;
        const { point } = state;
        return model.has_points ? `held-out ${point}s` : `the ${point}s of ${state.points}`;
    }

    #showClasses({ classes, matrix, quality, cells, by_session, tested }) {
        const others = matrix.some((row) => row[classes.length]) ? ["unknown"] : [];
        const names = [...classes, ...others];
        Object.assign(this, { classes, matrix, cells, names, tested });
        const all = Object.entries(cells).map(([key, points]) => [...key.split(" ").map((at) => names[at]), points]);
        const wrongFirst = all.sort(([a, b], [c, d]) => (a === b) - (c === d));
        this.points = wrongFirst.flatMap(([actual, said, points]) => points.map((one) => Object.assign(one, { actual, said })));
        const given = matrix.flatMap((row, label) => row.flatMap((n, answer) => (n ? [[label, answer]] : [])));
        this.#showMatrix(...(given.find(([label, answer]) => label !== answer) ?? given[0] ?? [0, 0]));
        const share = (value) => (value === null ? "–" : percent(value));
        const figures = quality?.per_class.map((one) => [one.class, one.n, share(one.precision), share(one.recall)]) ?? [];
        fill(find("#per-class"), "Each class", ["class", "tested", "precision", "recall"], figures);
        const row = ({ name, n, right, interval: [low, high] }) => [name, n, percent(right / n), `${percent(low)} to ${percent(high)}`];
        fill(find("#per-session"), "Each session or person", ["person", "tested", "right", "95 % confidence"], by_session.map(row));
    }

    #showMatrix(label, answer) {
        const { classes, matrix, names } = this;
        const most = Math.max(1, ...matrix.flat());
        const cell = (row, column) => {
            const n = matrix[row][column];
            const title = `${n} of ${classes[row]}, answered ${names[column]}`;
            const kind = !n ? "" : row === column ? "right" : column === classes.length ? "unknown" : "wrong";
            const pressed = row === label && column === answer;
            const attributes = { "aria-pressed": `${pressed}`, "aria-label": title, title, "data-key": `${row} ${column}` };
            const press = n > 0 && button(`${n}`, () => this.#showMatrix(row, column), attributes);
            return make("td", { class: kind, style: { "--tint": `${Math.round(12 + (38 * n) / most)}%` } }, press);
        };
        const heads = names.map((name) => make("th", { scope: "col" }, make("span", {}, name)));
        const rows = classes.map((name, row) => make("tr", {}, make("th", { scope: "row" }, name), ...names.map((_, column) => cell(row, column))));
        const style = { "--columns": names.length, "--digits": `${most}`.length };
        const table = make(
            "table",
            { class: names.length <= LEVEL ? "level" : "", style },
            make("caption", {}, `Answers to ${this.#tested}`),
            make("thead", {}, make("tr", {}, make("td", {}, "actual \\ answer"), ...heads)),
            make("tbody", {}, ...rows),
        );
        renew(find("#matrix"), table);
        this.#showCell(label, answer);
    }

    #showCell(label, answer) {
        const { classes, names, cells, matrix } = this;
        const points = cells[`${label} ${answer}`] ?? [];
        const title = `${classes[label]}, answered ${names[answer]}: ${counted(matrix[label][answer], this.studio.state.point)}`;
        const places = points.some(({ at }) => at) ? ", and a window to open its take" : "";
        const first = points.length > SHOWN ? `first ${SHOWN} ` : "";
        const hint = `Press a number to see its ${first}${this.studio.state.point}s${places}.`;
        const items = points.slice(0, SHOWN).map((one, at) => make("li", {}, this.#point(one, at)));
        renew(find("#cell"), make("h2", { class: "sub" }, title), make("ul", { class: "strip-of" }, ...items), make("p", { class: "note" }, hint));
    }

    #point(point, place) {
        const { takes, editor, recording } = this.studio.stages.data;
        const { at } = point;
        const shown = drawn(point, recording?.scales);
        if (!at || !takes[at.take - 1]) {
            const held = () => this.studio.stages.try.held.open(point);
            return button([unseen(`Try ${this.studio.state.point} ${place + 1}: `), shown], held, { class: "thumb", "data-key": `point ${place}` });
        }
        const words = make("span", {}, unseen(`Window ${place + 1}, open its take: `), takes[at.take - 1].session ?? "", make("i", {}, `take ${at.take}`));
        const open = () => {
            this.studio.go("data");
            editor.open(at.take, [at.first, at.first + at.n]);
        };
        return button([shown, words], open, { class: "thumb", "data-key": `window ${place}` });
    }

    /** Numbers: the value of each held-out point, and what was predicted. */
    #showValues({ pairs, facts, points }) {
        this.points = points;
        const shown = pairs.slice(0, PAIRS);
        const [low, high] = rangeOf(shown.flat());
        const [x, y] = [(value) => 45 + (SIDE * (value - low)) / (high - low || 1), (value) => 355 - x(value)];
        const text = (left, top, words, anchor) => draw("text", { x: left, y: top, "text-anchor": anchor }, words);
        const label = `Answers to ${this.#tested}: the predicted value against the actual one, from ${short(low)} to ${short(high)}`;
        const plot = draw(
            "svg",
            { viewBox: "-20 0 380 350", // with room for the name of the answer
              role: "img", "aria-label": label, class: "values" },
            draw("path", { d: "M45 310L345 10M45 10V310H345" }),
            ...shown.map(([actual, said]) => draw("circle", { cx: x(actual), cy: y(said), r: 3.2 })),
            text(45, 328, short(low), "middle"),
            text(345, 328, short(high), "end"),
            text(195, 345, "actual", "middle"),
            text(40, 18, short(high), "end"),
            text(40, 165, "answer", "end"),
        );
        find("#matrix").replaceChildren(plot);
        find("#matrix").hidden = !shown.length; // of sets of labels
        const list = facts.flatMap(([name, value]) => [make("dt", {}, name.replace(/^P@(\d+)$/, "right, of the likeliest $1")), make("dd", {}, `${value}`)]);
        find("#cell").replaceChildren(make("dl", { class: "facts" }, ...list));
    }
}

/** A point as curves, as an image, or as named values. */
export function drawn({ curves, image, width, values }, scales) {
    if (curves) {
        return curve(curves, scales ?? curves.map(() => rangeOf(curves.flat())));
    }
    return image ? picture(image, width) : small(values.slice(0, NAMED).map(([name, value]) => `${name} ${value}`).join(", "));
}
