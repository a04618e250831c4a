/* Parts of the page: elements, choices, curves, tables. Text becomes text nodes only. */

const SVG = "http://www.w3.org/2000/svg";
export const COLOURS = 12; // of report.css

export const find = (selector, inside = document) => inside.querySelector(selector);
export const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

/** Make an element with attributes, of which functions are listeners, and with children. */
export function make(tag, attributes = {}, ...children) {
    return dressed(document.createElement(tag), attributes, children);
}

/** Make an element of a drawing. */
export const draw = (tag, attributes, ...children) => dressed(document.createElementNS(SVG, tag), attributes, children);

function dressed(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(name, value);
        } else if (name === "style") {
            Object.entries(value).forEach((one) => element.style.setProperty(...one)); // an attribute would need a weaker policy
        } else if (value !== false && value !== undefined && value !== null) {
            element.setAttribute(name, value === true ? "" : value);
        }
    }
    element.append(...children.filter((one) => one !== null && one !== undefined && one !== false));
    return element;
}

export const button = (words, press, more = {}) => make("button", { type: "button", click: press, ...more }, ...[words].flat());
export const bold = (text) => make("b", {}, `${text}`);
export const small = (...words) => make("small", {}, ...words);
export const unseen = (text) => make("b", { class: "unseen" }, text);
export const led = (kind = "") => make("span", { class: `led ${kind}` });
export const key = (name) => make("kbd", { "aria-hidden": "true" }, name);

/** Replace what an element has by words, unless they are the same: a status is read aloud once. */
export function say(element, ...words) {
    const text = words.map((one) => one?.textContent ?? one ?? "").join("");
    if (element.dataset.said !== text) {
        element.dataset.said = text;
        element.replaceChildren(...words.filter((one) => one !== null && one !== undefined && one !== false));
    }
    return element;
}

/** Replace an element's children, and keep the focus at the one with the same `data-key`. */
export function renew(element, ...children) {
    const at = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    element.replaceChildren(...children.filter(Boolean));
    if (at !== undefined) {
        all("[data-key]", element).find((one) => one.dataset.key === at)?.focus({ preventScroll: true });
    }
}

/** Offer [value, words] in a select; what was chosen stays as long as it is offered. */
export function offer(select, options, chosen = select.value) {
    const same = options.length === select.options.length
        && options.every(([value, words], at) => select.options[at].value === `${value}` && select.options[at].text === words);
    if (!same) {
        select.replaceChildren(...options.map(([value, words]) => make("option", { value }, words)));
    }
    if (options.some(([value]) => `${value}` === `${chosen}`)) {
        select.value = chosen;
    } else if (options.length && select.selectedIndex < 0) {
        select.selectedIndex = 0;
    }
    return select;
}

/** A select of [value, words] with a name, which calls a function when another is chosen. */
export function choice(name, options, chosen, changed, more = {}) {
    const select = make("select", { name, "data-key": name, ...more });
    offer(select, options, chosen);
    select.addEventListener("change", () => changed?.(select.value));
    return select;
}

export const labelled = (words, ...fields) => make("label", {}, `${words} `, ...fields);

/** The polylines of curves of channels, each in its range, [least, largest]. */
export function polylines(curves, scales, width, height) {
    return curves.map((values, channel) => {
        const [low, high] = scales?.[channel] ?? rangeOf(curves.flat());
        const x = (at) => ((width * at) / Math.max(1, values.length - 1)).toFixed(1);
        const y = (value) => (height * (1 - (value - low) / (high - low || 1))).toFixed(1);
        return draw("polyline", { class: `line c${channel % COLOURS}`, points: values.map((value, at) => `${x(at)},${y(value)}`).join(" ") });
    });
}

/** A drawing of curves. */
export function curve(curves, scales, { width = 200, height = 60, label } = {}) {
    const attributes = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
    const named = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
    return draw("svg", { ...attributes, ...named }, ...polylines(curves, scales, width, height));
}

/** Draw a point as an image. */
export function picture(values, width, range = rangeOf(values)) {
    const canvas = make("canvas", { width, height: values.length / width, class: "picture", "aria-hidden": "true" });
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(width, values.length / width);
    const [low, high] = range;
    values.forEach((value, at) => {
        image.data.fill((255 * (value - low)) / (high - low || 1), 4 * at, 4 * at + 3);
        image.data[4 * at + 3] = 255;
    });
    pen.putImageData(image, 0, 0);
    return canvas;
}

/** A bar of which a share, from 0 to 1, is filled. */
export const meter = (share) =>
    make("span", { class: "meter", "aria-hidden": "true" }, make("i", { style: { "--part": `${Math.min(100, Math.max(0, 100 * share))}%` } }));

/** The words of a matter of attention, with buttons that help. */
export function notice(words, { error = false, helps = [] } = {}) {
    return make("div", { class: `notice ${error ? "error" : ""}` }, make("p", {}, ...[words].flat()), ...helps);
}

/** Fill a table: headings, and rows of which the first cell is a heading. */
export function fill(table, caption, headings, rows) {
    const cell = (content, place) => (place ? make("td", {}, content ?? "–") : make("th", { scope: "row" }, content ?? ""));
    table.replaceChildren(
        make("caption", {}, caption),
        make("thead", {}, make("tr", {}, ...headings.map((one) => (one ? make("th", { scope: "col" }, one) : make("td"))))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
    );
    table.hidden = !rows.length;
}

export const rangeOf = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const number = (value) => value.toLocaleString("en");
export const short = (value) => `${+(+value).toPrecision(4)}`;
export const brief = (value) => number(+(+value).toPrecision(value < 100 ? 2 : 3));
export const counted = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
export const seconds = (value) => `${+value.toFixed(value < 10 ? 2 : 1)} s`;
export const STILL = matchMedia("(prefers-reduced-motion: reduce)");
