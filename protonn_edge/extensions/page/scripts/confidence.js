/* The probabilities of the classes; that of the highest score is `Confidence.percent` and pnn_confidence(). */

/** @param {number[]} scores
 *  @param confidence `factor`, `shift` and `table` of the exponential; `newClasses`, only taught ones. */
export function percents(scores, { factor, shift, table, newClasses }) {
    const highest = Math.max(...scores);
    const best = scores.indexOf(highest);
    const half = 2 ** (shift - 1);
    const weights = scores.map((score, i) => {
        if (i !== best && score === 0 && i >= scores.length - newClasses) {
            return 0;
        }
        return table[Math.floor(((highest - score) * factor + half) / 2 ** shift)] ?? 0;
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => Math.floor((100 * weight + Math.floor(sum / 2)) / sum));
}
