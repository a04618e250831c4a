/*
 * Convert pen strokes to pixels like those of the test points: of the same size, centred, and with strokes
 * of the same width. The strokes are kept as lines, and drawn again at that scale.
 */

const FINE = 8; // samples a pixel and axis

/** The ink of strokes, height x width numbers from 0 to 1.
 *
 * @param {Array<Array<[number, number]>>} strokes Lines through points (x, y), in any unit.
 * @param shape rows and columns; `box` with the height and the width that drawings fill and the middle
 *     (y, x) of it; `pen`, the width of a stroke; all in pixels.
 */
export function inkOf(strokes, shape) {
    const { rows, columns, pen } = shape;
    const canvas = document.createElement("canvas");
    canvas.width = FINE * columns;
    canvas.height = FINE * rows;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.scale(FINE, FINE);
    context.lineWidth = pen;
    context.lineCap = context.lineJoin = "round";
    for (const stroke of fitted(strokes, shape)) {
        context.beginPath();
        stroke.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
        context.lineTo(...stroke.at(-1)); // a dot is a line, too
        context.stroke();
    }
    return averages(context.getImageData(0, 0, canvas.width, canvas.height).data, rows, columns);
}

function fitted(strokes, { box, pen }) {
    const xs = strokes.flat().map(([x]) => x);
    const ys = strokes.flat().map(([, y]) => y);
    const [left, right, top, bottom] = [
        Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys),
    ];
    const room = (size, extent) => Math.max(size - pen, 0.5) / Math.max(extent, 1e-6);
    const scale = Math.min(room(box.height, bottom - top), room(box.width, right - left), 1e3);
    return strokes.map((stroke) =>
        stroke.map(([x, y]) => [
            box.x + scale * (x - (left + right) / 2),
            box.y + scale * (y - (top + bottom) / 2),
        ]),
    );
}

function averages(rgba, rows, columns) {
    const ink = new Float64Array(rows * columns);
    const width = FINE * columns;
    for (let y = 0; y < FINE * rows; y++) {
        for (let x = 0; x < width; x++) {
            const pixel = Math.floor(y / FINE) * columns + Math.floor(x / FINE);
            ink[pixel] += rgba[4 * (y * width + x) + 3] / (255 * FINE * FINE);
        }
    }
    return ink;
}
