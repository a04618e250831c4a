/* The number that a model's only score stands for, as `IntegerValue` and pnn_value() compute it. */

export class ValueScale {
    /** @param rule `multiplier`, `dropped`, `shift`, `base` and `decimals` of the computation; `half_width` of
     *  the interval in units of the last decimal, or null. */
    constructor(rule) {
        this.rule = rule;
    }

    /** The number for a score. */
    of(score) {
        const { multiplier, dropped, shift, base, decimals } = this.rule;
        const product = (score >> dropped) * multiplier + 2 ** (shift - 1);
        return (base + Math.floor(product / 2 ** shift)) / 10 ** decimals;
    }

    /** The number for a score as text, with its interval. */
    words(score) {
        const { half_width: width, decimals } = this.rule;
        const interval = width === null ? "" : ` ± ${(width / 10 ** decimals).toFixed(decimals)}`;
        return this.text(this.of(score)) + interval;
    }

    /** Whether an error is within the interval; true if that is unknown. */
    covers(error) {
        const { half_width: width, decimals } = this.rule;
        return width === null || Math.abs(error) * 10 ** decimals <= width + 1e-6;
    }

    /** A number with the decimals of the device. */
    text(value) {
        return value.toFixed(this.rule.decimals);
    }
}
