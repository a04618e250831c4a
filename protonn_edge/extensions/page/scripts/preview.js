/* A point as a picture: pixels where it is an image, a line a channel where it is a signal, else a bar a
 * feature; and the values of what in it is pointed at. */
import { shortly } from "./features.js";

const SIDE = 560;
const KEYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Return a picture of a test point, `side` px wide. */
export function pictureOf(points, i, side) {
    const canvas = document.createElement("canvas");
    const { shape } = points.look;
    const flat = !shape || shape.rows === 1;
    canvas.width = side;
    canvas.height = flat ? side / 2 : Math.round((side * shape.rows) / shape.columns);
    // Its colours are known once it is in the page, which it may have left again.
    requestAnimationFrame(() => {
        if (canvas.isConnected) {
            draw(canvas, points.levels(points.bytes(i)), points.look);
        }
    });
    return canvas;
}

/** Draw levels from 0 to 1, a number a feature. */
export function draw(canvas, levels, { shape, channels }) {
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    const style = getComputedStyle(canvas);
    context.fillStyle = style.color;
    context.lineWidth = canvas.width / 180;
    if (channels) {
        drawLines(context, levels, channels, (name) => style.getPropertyValue(`--${name}`));
    } else if (shape && shape.rows > 1) {
        drawPixels(context, levels, shape, style);
    } else {
        drawBars(context, levels);
    }
}

function drawPixels(context, levels, { rows, columns }, style) {
    const { width, height } = context.canvas;
    const numbers = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
    const [ink, paper] = [numbers(style.color), numbers(style.backgroundColor)];
    const edge = (i, n, side) => Math.round((i * side) / n); // no gaps between pixels
    levels.forEach((level, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const [top, left] = [edge(row, rows, height), edge(column, columns, width)];
        // Mixed here: a canvas rounds what is nearly transparent to other hues.
        const share = Math.min(Math.max(level, 0), 1);
        const mixed = ink.map((end, k) => Math.round(share * end + (1 - share) * paper[k]));
        context.fillStyle = `rgb(${mixed.join()})`;
        context.fillRect(
            left, top, edge(column + 1, columns, width) - left, edge(row + 1, rows, height) - top,
        );
    });
}

function drawBars(context, levels) {
    const { width, height } = context.canvas;
    const step = width / levels.length;
    levels.forEach((level, i) => {
        const top = (height - 12) * level;
        context.fillRect(i * step + 0.1 * step, height - 4 - top, 0.8 * step, top + 2);
    });
}

function drawLines(context, levels, { names, colours }, colourOf) {
    const { width, height } = context.canvas;
    const step = width / Math.max(levels.length / names.length - 1, 1);
    names.forEach((_, channel) => {
        context.strokeStyle = colourOf(colours[channel]);
        context.beginPath();
        for (let i = channel, x = 0; i < levels.length; i += names.length, x += step) {
            context.lineTo(x, 4 + (height - 8) * (1 - levels[i]));
        }
        context.stroke();
    });
}

/** What the Uno is sent, with the value of each feature under the pointer or the arrow keys. */
export class Preview {
    constructor(canvas, points, tip) {
        this.canvas = canvas;
        this.points = points;
        this.tip = tip;
        const { shape } = points.look;
        const flat = !shape || shape.rows === 1;
        canvas.width = SIDE;
        canvas.height = flat ? SIDE / 3 : Math.round((SIDE * shape.rows) / shape.columns);
        canvas.tabIndex = 0;
        canvas.setAttribute("role", "application");
        canvas.setAttribute("aria-label", "Input of the Uno; arrow keys read its values");
        canvas.addEventListener("pointermove", (event) => this.#point(event));
        canvas.addEventListener("click", (event) => this.#point(event));
        canvas.addEventListener("pointerleave", () => tip.hide());
        canvas.addEventListener("blur", () => tip.hide());
        canvas.addEventListener("keydown", (event) => this.#key(event));
    }

    /** @param {Uint8Array} bytes What the device is fed, or null where nothing is drawn. */
    show(bytes) {
        this.bytes = bytes;
        const { features, look } = this.points;
        const levels = bytes ? this.points.levels(bytes) : new Float64Array(features.count);
        draw(this.canvas, levels, look);
    }

    /** Columns and rows of places that have a value. */
    get #places() {
        const { look, features } = this.points;
        if (look.channels) {
            return { columns: features.count / look.channels.names.length, rows: 1 };
        }
        return look.shape ?? { columns: features.count, rows: 1 };
    }

    #point({ offsetX, offsetY }) {
        const { columns, rows } = this.#places;
        const { clientWidth, clientHeight } = this.canvas;
        const at = (value, side, n) => Math.min(Math.max(Math.floor((value / side) * n), 0), n - 1);
        const [row, column] = [at(offsetY, clientHeight, rows), at(offsetX, clientWidth, columns)];
        this.#tell(row * columns + column, false);
    }

    #key(event) {
        const { columns, rows } = this.#places;
        if (event.key in KEYS) {
            const down = rows > 1 && ["ArrowUp", "ArrowDown"].includes(event.key);
            const step = KEYS[event.key] * (down ? columns : 1);
            this.at = Math.min(Math.max((this.at ?? -step) + step, 0), columns * rows - 1);
            this.#tell(this.at, true);
            event.preventDefault();
        } else if (event.key === "Escape") {
            this.tip.hide();
        }
    }

    #tell(place, aloud) {
        if (!this.bytes) {
            return;
        }
        const { columns, rows } = this.#places;
        const [row, column] = [Math.floor(place / columns), place % columns];
        const box = this.canvas.getBoundingClientRect();
        const [width, height] = [box.width / columns, box.height / rows];
        const at = new DOMRect(box.left + column * width, box.top + row * height, width, height);
        this.tip.show(this.#words(place, row, column), at, aloud);
    }

    #words(place, row, column) {
        const { features, look, names } = this.points;
        const raw = features.restore(this.bytes);
        if (look.channels) {
            const { names: channels, rate } = look.channels;
            const values = channels.map((name, k) => `${name} ${shortly(raw[place * channels.length + k])}`);
            const time = rate ? `, ${shortly(column / rate)} s` : "";
            return `sample ${column}${time}: ${values.join(", ")}`;
        }
        if (look.shape) {
            return `row ${row}, column ${column}: ${shortly(raw[place])}`;
        }
        return `${names[place]}: ${shortly(raw[place])}`;
    }
}
