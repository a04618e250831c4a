/* Parts of the page: elements, fields of forms, curves. Text becomes text nodes only. */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 100;
const COLOURS = 12; // of report.css

export const find = (selector, inside = document) => inside.querySelector(selector);

/** Make an element with attributes, of which functions are listeners, and with children. */
export function make(tag, attributes = {}, ...children) {
    return dressed(document.createElement(tag), attributes, children);
}

function dressed(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(name, value);
        } else if (value !== false && value !== undefined) {
            element.setAttribute(name, value === true ? "" : value);
        }
    }
    element.append(...children);
    return element;
}

const draw = (tag, attributes, ...children) => dressed(document.createElementNS(SVG, tag), attributes, children);

/** Offer names in a select, of which one that was chosen stays; else the first one is taken. */
export function offer(select, names, none = "") {
    if (!select.dataset.offered) {
        select.addEventListener("change", () => (select.dataset.chosen = select.value));
        select.dataset.offered = "yes";
    }
    const chosen = select.dataset.chosen ?? "";
    const all = [...(none && !names.length ? [["", none]] : []), ...names.map((name) => [name, name])];
    const same = all.length === select.options.length && all.every(([value], i) => select.options[i].value === value);
    if (!same) {
        select.replaceChildren(...all.map(([value, text]) => make("option", { value }, text)));
        select.value = all.some(([value]) => value === chosen) ? chosen : (all[0]?.[0] ?? "");
        select.dispatchEvent(new Event("input", { bubbles: true }));
    }
}

/** The values of a form that are shown and not empty. */
export function fieldsOf(form) {
    const fields = [...form.elements].filter((one) => one.name && one.value !== "" && one.offsetParent !== null);
    return Object.fromEntries(fields.map((one) => [one.name, one.value]));
}

/** Draw curves of channels, each in its range, [least, largest]. */
export function curve(curves, scales) {
    const lines = curves.map((values, channel) => {
        const [low, high] = scales[channel] ?? rangeOf(curves.flat());
        const points = values.map(
            (value, at) =>
                `${((WIDTH * at) / Math.max(1, values.length - 1)).toFixed(1)},${(
                    HEIGHT *
                    (1 - (value - low) / (high - low || 1))
                ).toFixed(1)}`,
        );
        const attributes = { points: points.join(" "), class: `c${channel % COLOURS}` };
        return draw("polyline", { ...attributes, "vector-effect": "non-scaling-stroke" });
    });
    const attributes = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "lines" };
    return draw("svg", { ...attributes, "aria-hidden": "true" }, ...lines);
}

/** Veil the parts of a curve before and after a selection, of shares from 0 to 1. */
export function veils() {
    const [left, right] = [0, 1].map(() => draw("rect", { y: 0, height: HEIGHT, class: "veil" }));
    const show = (begin, end) => {
        left.setAttribute("width", WIDTH * begin);
        right.setAttribute("x", WIDTH * end);
        right.setAttribute("width", WIDTH * (1 - end));
    };
    return { parts: [left, right], show };
}

export const rangeOf = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
export const number = (value) => value.toLocaleString("en");

/** Fill a table: headings, and rows of which the first cell is a heading. */
export function fill(table, caption, headings, rows) {
    const cell = (content, place) =>
        place ? make("td", {}, content ?? "–") : make("th", { scope: "row" }, content ?? "");
    table.replaceChildren(
        make("caption", {}, caption),
        make("thead", {}, make("tr", {}, ...headings.map((one) => (one ? make("th", { scope: "col" }, one) : make("td"))))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
    );
}
