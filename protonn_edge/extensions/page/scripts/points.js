/* The test points in the page. */
import { Columns } from "./columns.js";
import { Features } from "./features.js";
import { ValueScale } from "./value.js";

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export class Points {
    constructor({ model, points, total, pointBytes, levels, shape, channels }) {
        this.features = new Features(model);
        this.names = model.names;
        this.classes = model.classes;
        this.columns = new Columns(model.columns, this.features, this.classes, model.table);
        this.list = points;
        this.value = model.value && new ValueScale(model.value);
        this.all = total;
        this.look = { shape, channels };
        this.raw = bytesOf(pointBytes);
        this.range = levels;
    }

    /** The bytes that the device receives. */
    bytes(i) {
        const { count } = this.features;
        return this.raw.subarray(i * count, (i + 1) * count);
    }

    /** Levels from 0 to 1 of what the device is fed. */
    levels(bytes) {
        const { shown, lower, upper } = this.range;
        const raw = this.features.restore(bytes);
        if (shown) {
            return raw.map((value) => (value - shown[0]) / (shown[1] - shown[0]));
        }
        const at = (list, i) => list[list.length > 1 ? i : 0];
        return raw.map((value, i) => {
            const extent = at(upper, i) - at(lower, i);
            return extent !== 0 ? Math.min(Math.max((value - at(lower, i)) / extent, 0), 1) : 0.5;
        });
    }

    /** The name of an answer. */
    answer(label) {
        return this.classes[label] ?? "unknown";
    }

    /** The places in the list of the points of a cell; `answer` counts unknown as the last column. */
    inCell({ label, answer }) {
        return [...this.list.keys()].filter(
            (i) => this.row(this.list[i].label) === label && this.row(this.list[i].predicted) === answer,
        );
    }

    /** The row or column of the matrix of a label; unknown is the last one. */
    row(label) {
        return Math.min(label, this.classes.length);
    }

    placeOf(index) {
        return this.list.findIndex((point) => point.index === index);
    }

    /** A point in a few words, such as “#12 is 5, taken for 9”, or “#12 is 7.3, predicted 6.4”. */
    words(i) {
        const { index, label, predicted, scores } = this.list[i];
        if (this.value) {
            const is = this.list[i].true === null ? "" : ` is ${this.list[i].true}`;
            return `#${index}${is}, predicted ${this.value.text(this.value.of(scores[0]))}`;
        }
        const is = `#${index} is ${this.answer(label)}`;
        if (predicted === label) {
            return is;
        }
        return predicted < this.classes.length
            ? `${is}, taken for ${this.answer(predicted)}`
            : `${is}, answered unknown`;
    }
}
