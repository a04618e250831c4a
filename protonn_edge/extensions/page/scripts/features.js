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

    /** Whether a raw value is beyond the bytes by over half a step. */
    isClamped(value, i) {
        const steps = (value - this.zero(i)) / this.step(i);
        return steps < -0.5 || steps >= this.maximum + 0.5;
    }
}
