/* The script of the report's page. All its data comes from a JSON block in the page. Each interactive part of
 * the page is a class, and all parts share the selection. */
import { CellPoints } from "./cell.js";
import { Chart } from "./chart.js";
import { Listing } from "./listing.js";
import { Matrix } from "./matrix.js";
import { Mistakes } from "./mistakes.js";
import { Points } from "./points.js";
import { Selection } from "./selection.js";
import { Tip } from "./tip.js";
import { TryIt } from "./try.js";

const payload = JSON.parse(document.getElementById("report-data").textContent);
const live = (name) => document.querySelector(`[data-live="${name}"]`);

const tip = new Tip(document.getElementById("main"));
const points = new Points(payload);
const selection = new Selection(points.list.length > 0 ? 0 : null);

for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", () => {
        document.querySelector(link.hash).closest("details")?.setAttribute("open", "");
    });
}
for (const figure of document.querySelectorAll("figure > svg")) {
    new Chart(figure, tip);
}
for (const listing of document.querySelectorAll(".listing")) {
    new Listing(listing);
}
if (live("matrix")) {
    new Matrix(live("matrix").querySelector("table"), selection, tip);
    new CellPoints(live("cell"), points, selection, payload.counts);
}
if (live("mistakes")) {
    new Mistakes(live("mistakes"), points, selection);
}
if (payload.program) {
    new TryIt(document.getElementById("uno-page"), payload, points, selection, tip);
}
