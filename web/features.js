/* Convert raw values to the bytes that the device receives, and back, like `InputQuantizer`. */

/** A number with a readable number of digits. */
export const shortly = (value) =>
    Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

export class Features {
    /** @param model `zero` and `step`, one number or one per feature; `maximum`, `features`; `single`,
     *  whether values are divided in binary32 and halves rounded away from 0. */
    constructor({ zero, step, maximum, features, single = false }) {
        this.count = features;
        this.maximum = maximum;
        this.single = single;
        this.zero = (i) => zero[zero.length > 1 ? i : 0];
        this.step = (i) => step[step.length > 1 ? i : 0];
    }

    /** Return bytes; raw values are binary32, as in files. */
    quantize(raw) {
        return Uint8Array.from(raw, (value, i) => {
            const [x, zero, step] = [Math.fround(value), this.zero(i), this.step(i)];
            const ratio = Math.fround(x / step);
            const steps = this.single
                ? Math.sign(ratio) * Math.floor(Math.abs(ratio) + 0.5) - Math.round(zero / step)
                : Math.floor((x - zero) / step + 0.5);
            return Math.min(Math.max(steps, 0), this.maximum);
        });
    }

    restore(bytes) {
        return Float64Array.from(bytes, (byte, i) => this.zero(i) + this.step(i) * byte);
    }

    /** Return the raw values in a text of numbers, with decimal commas if semicolons or tabs separate
     *  them; throws a sentence if they do not fit. */
    read(text) {
        const pointed = /[;\t]/.test(text) ? text.replaceAll(/,(?=\d)/g, ".") : text;
        const words = pointed.split(/[\s,;]+/).filter(Boolean);
        const wrong = words.find((word) => !Number.isFinite(Number(word)));
        if (wrong !== undefined) {
            throw new Error(`“${wrong.slice(0, 20)}” is not a number`);
        }
        if (words.length !== this.count) {
            throw new Error(`there are ${words.length} numbers, but the model takes ${this.count}`);
        }
        return Float64Array.from(words, Number);
    }
}
