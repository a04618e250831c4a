/* A pad to draw on, with a pen, a finger, a mouse, or the keys: arrows move the pen, the space bar puts it
 * down and lifts it, Delete clears. */

const SIDE = 280;
const KEY_STEP = SIDE / 28;
const MOVES = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};

export class Pad {
    /** @param {HTMLCanvasElement} canvas
     *  @param {(strokes: Array) => void} onChange Called after every change; without strokes, all is clear.
     */
    constructor(canvas, onChange) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.onChange = onChange;
        this.strokes = [];
        this.pen = { x: SIDE / 2, y: SIDE / 2, down: false, shown: false };
        canvas.width = canvas.height = SIDE;
        canvas.addEventListener("pointerdown", (event) => this.#touch(event));
        canvas.addEventListener("pointermove", (event) => this.#move(event));
        for (const end of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(end, () => (this.pen.down = false));
        }
        canvas.addEventListener("keydown", (event) => this.#key(event));
        canvas.addEventListener("blur", () => this.#show(false));
        this.draw();
    }

    clear() {
        this.strokes = [];
        this.pen.down = false;
        this.draw();
    }

    draw() {
        const { context, pen } = this;
        const style = getComputedStyle(this.canvas);
        context.clearRect(0, 0, SIDE, SIDE);
        context.strokeStyle = context.fillStyle = style.color;
        context.lineCap = context.lineJoin = "round";
        context.lineWidth = SIDE / 16;
        if (!this.strokes.length && !pen.shown) {
            context.font = `${SIDE / 14}px sans-serif`;
            context.textAlign = "center";
            context.fillText("Draw here", SIDE / 2, SIDE / 2);
        }
        for (const stroke of this.strokes) {
            context.beginPath();
            stroke.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
            context.lineTo(...stroke.at(-1));
            context.stroke();
        }
        if (pen.shown) {
            context.beginPath();
            context.arc(pen.x, pen.y, SIDE / 40, 0, 2 * Math.PI);
            context.lineWidth = 3;
            context.strokeStyle = context.fillStyle = style.outlineColor;
            context.stroke();
            if (pen.down) {
                context.fill();
            }
        }
    }

    #changed() {
        this.draw();
        this.onChange(this.strokes);
    }

    #begin(x, y) {
        this.pen.down = true;
        this.strokes.push([[x, y]]);
        this.#changed();
    }

    #extend(x, y) {
        this.strokes.at(-1).push([x, y]);
        this.#changed();
    }

    #touch(event) {
        if (event.button !== 0) {
            return;
        }
        event.preventDefault();
        this.canvas.setPointerCapture(event.pointerId);
        this.#show(false);
        this.#begin(...this.#place(event));
    }

    #move(event) {
        if (this.pen.down && this.canvas.hasPointerCapture(event.pointerId)) {
            this.#extend(...this.#place(event));
        }
    }

    #place(event) {
        const box = this.canvas.getBoundingClientRect();
        const unit = SIDE / box.width;
        return [unit * (event.clientX - box.left), unit * (event.clientY - box.top)];
    }

    #key(event) {
        const { pen } = this;
        if (event.key in MOVES) {
            const [right, down] = MOVES[event.key];
            pen.x = Math.min(Math.max(pen.x + KEY_STEP * right, 0), SIDE);
            pen.y = Math.min(Math.max(pen.y + KEY_STEP * down, 0), SIDE);
            this.#show(true);
            if (pen.down) {
                this.#extend(pen.x, pen.y);
            }
        } else if (event.key === " ") {
            this.#show(true);
            if (pen.down) {
                pen.down = false;
                this.draw();
            } else {
                this.#begin(pen.x, pen.y);
            }
        } else if (event.key === "Delete" || event.key === "Backspace") {
            this.clear();
            this.onChange(this.strokes);
        } else {
            return;
        }
        event.preventDefault();
    }

    #show(shown) {
        this.pen.shown = shown;
        if (!shown) {
            this.pen.down = false;
        }
        this.draw();
    }
}
