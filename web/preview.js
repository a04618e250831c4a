/* What the Uno is sent: a picture where the features are pixels, a line where they are a signal, else a bar
 * each. */

const SIDE = 560;

export class Preview {
    /** @param shape rows and columns of the image, or null. */
    constructor(canvas, shape) {
        this.canvas = canvas;
        this.shape = shape;
        this.flat = !shape || shape.rows === 1;
        canvas.width = SIDE;
        canvas.height = this.flat ? SIDE / 3 : Math.round((SIDE * shape.rows) / shape.columns);
    }

    /** @param {Float64Array} levels A number from 0 to 1 a feature. */
    show(levels) {
        const { canvas } = this;
        const context = canvas.getContext("2d");
        context.clearRect(0, 0, canvas.width, canvas.height);
        context.fillStyle = context.strokeStyle = getComputedStyle(canvas).color;
        context.lineWidth = 3;
        if (!this.flat) {
            this.#pixels(context, levels);
        } else if (this.shape) {
            this.#line(context, levels);
        } else {
            this.#bars(context, levels);
        }
    }

    #pixels(context, levels) {
        const { rows, columns } = this.shape;
        const edge = (i, n, side) => Math.round((i * side) / n); // no gaps between pixels
        levels.forEach((level, i) => {
            const [row, column] = [Math.floor(i / columns), i % columns];
            const [top, left] = [
                edge(row, rows, this.canvas.height), edge(column, columns, this.canvas.width),
            ];
            context.globalAlpha = Math.min(Math.max(level, 0), 1);
            context.fillRect(
                left,
                top,
                edge(column + 1, columns, this.canvas.width) - left,
                edge(row + 1, rows, this.canvas.height) - top,
            );
        });
        context.globalAlpha = 1;
    }

    #bars(context, levels) {
        const { width, height } = this.canvas;
        const step = width / levels.length;
        levels.forEach((level, i) => {
            const top = (height - 12) * level;
            context.fillRect(i * step + 0.1 * step, height - 4 - top, 0.8 * step, top + 2);
        });
    }

    #line(context, levels) {
        const { width, height } = this.canvas;
        const step = width / Math.max(levels.length - 1, 1);
        context.beginPath();
        levels.forEach((level, i) => context.lineTo(i * step, 4 + (height - 8) * (1 - level)));
        context.stroke();
    }
}
