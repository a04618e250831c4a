/* The probability of the class with the highest score, like `Confidence.percent` and pnn_confidence(). */

/** @param {number[]} scores
 *  @param confidence `factor`, `shift` and `table` of the exponential; `newClasses`, only taught ones. */
export function percent(scores, { factor, shift, table, newClasses }) {
    const highest = Math.max(...scores);
    const best = scores.indexOf(highest);
    const half = 2 ** (shift - 1);
    const sum = scores.reduce((total, score, i) => {
        if (i !== best && score === 0 && i >= scores.length - newClasses) {
            return total;
        }
        const step = Math.floor(((highest - score) * factor + half) / 2 ** shift);
        return total + (table[step] ?? 0);
    }, 0);
    return Math.floor((100 * table[0] + Math.floor(sum / 2)) / sum);
}
