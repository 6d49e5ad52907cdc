// SPDX-License-Identifier: GPL-3.0-or-later
// Start the page, and rearrange it by what it has.
button(byId("tools"), "\u25d0", "dark or light", () => {
	night.mediaText = night.mediaText === "all" || (night.mediaText === preferred.media && preferred.matches) ? "not all" : "all";
	redraw();
});
root.classList.add("js");
// Move notes of what was not recorded to the end, and hide sections that have nothing else: a page of captures, of sar or
// of user space alone is about what it has.
const missing = new Set();
for (const id of ["requests", "messages", "clocks", "resources"]) {
	for (const note of byId(id).querySelectorAll(":scope > .note")) if (note.textContent.includes("not recorded (")) {
		missing.add(note.textContent);
		note.remove();
	}
	byId(id).hidden = !byId(id).querySelector("table, figure, canvas, .why");
}
if (missing.size) {
	make("h3", byId("nodes"), { textContent: "Not recorded" });
	const list = make("ul", byId("nodes"), { className: "note", id: "missing" });
	for (const text of missing) make("li", list, { textContent: text });
}
// The contents name what is there.
if (byId("against")) document.querySelector("nav a[href='#timeline']").before(make("a", null, { href: "#against", textContent: "Against" }));
for (const link of document.querySelectorAll("nav a[href^='#']"))
	link.hidden = !byId(link.hash.slice(1)).querySelector("table, figure, canvas, ul, #view");
document.querySelectorAll(".table").forEach(prepare);
if (data.span) {
	redraws.push(drawNow, drawHeatNow);
	readAddress();
	showMeasures();
	showWindow();
	drawHeatNow();
	layOut();
	if (canvas.getBoundingClientRect().top < innerHeight) paintRows(); else later(paintRows);
}
later(() => root.classList.add("drawn"));
later(fadeAll);
later(readFollowed);
if (data.span) document.querySelectorAll("[data-path]").forEach((into) => later(() => path(into, data.nodes)));
if (byId("matrix")) {
	const { nodes, columns, rows, few } = matrixOf;
	const at = ["from", "to", "messages", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "bound_ns"].map((key) => columns.indexOf(key));
	const whole = rows.map((row) => at.map((column, i) => i < 2 ? nodes.indexOf(row[column]) : row[column]));
	const ofWindow = (from, to) => pairs.flatMap((row) => {
		const names = row.key.map(nodeName), [count, , median, p95, p99, most] = duration(row, from, to);
		return count ? [[...names.map((name) => nodes.indexOf(name)), count, row.quantile(from, to, 0), median, p95, p99, most, boundOf(...names)]] : [];
	});
	const caption = few ?
		[["b", "", "Latency by pair of nodes"], ["span", "key net", "least to 95\u202f%"], ["span", "key net light", "to 99\u202f%"],
			["span", "key whisker", "to the greatest"], ["span", "key median", "median"],
			["span", "", "logarithmic; right: median, and the clocks\u2019 bound on each latency"]] :
		[["b", "", "Median latency from node (row) to node (column)"],
			["span", "", "the stronger the colour, the longer, on a logarithmic scale; empty: no message"]];
	const head = byId("latency").firstElementChild;
	for (const [name, className, textContent] of caption) make(name, head, { className, textContent }).after(" ");
	const drawPairs = (from, to) => {
		const isOfWindow = !!selected && data.bins.pairs.fine > 0;
		(few ? latencies : matrix)({ nodes, pairs: (isOfWindow ? ofWindow(from, to) : whole).filter(([a, b]) => a >= 0 && b >= 0) }, byId("matrix"));
		sayWhole(head, selected && !isOfWindow);
	};
	followers.push(drawPairs);
	later(() => drawPairs(...selected ?? [0, steps]));
}
later(() => root.classList.add("complete"));
addEventListener("resize", redraw);
addEventListener("hashchange", () => {
	readAddress();
	showMeasures();
	redraw();
});
preferred.addEventListener("change", redraw);
