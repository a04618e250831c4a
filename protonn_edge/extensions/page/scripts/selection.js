/* What is singled out in the whole page: a test point, and a cell of the confusion matrix. */

export class Selection extends EventTarget {
    cell = null;

    constructor(point) {
        super();
        this.point = point;
    }

    /** Single out a test point by its place in the page's list; null is none of them. */
    pick(point) {
        this.point = point;
        this.dispatchEvent(new Event("point"));
    }

    /** Single out a cell: `{label, answer}`, or null. */
    show(cell) {
        this.cell = cell;
        this.dispatchEvent(new Event("cell"));
    }
}
