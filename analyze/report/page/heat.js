// SPDX-License-Identifier: GPL-3.0-or-later
// The heat map: one measure at a time, by step of time and node, pair or server's port.
const NOTHING = -1; // nothing happened; NaN: it was not recorded
const perStep = stepNs / cellNs;
const lanesOfNode = data.nodes.map((_, n) => lanes.filter((lane) => lane.n === n));
const laneSum = (list, name, from, to) => {
	let sum = 0;
	for (const lane of list)
		for (let i = from * perStep; i < Math.min(to * perStep, data.cells); i++) sum += Math.max(0, lane[name][i]);
	return sum;
};
const isRecorded = (n, step) => !nodeGaps[n].some(([from, to]) => from <= step * stepNs && to >= Math.min(span, (step + 1) * stepNs));
const byNode = (value) => data.nodes.map((name, n) => ({ name, n, value: (step) => value(n, step) }));
const pairName = (pair) => pair.slice(0, 2).map((n) => data.nodes[n] ?? "?").join(" \u2192 ");
const groupsOf = (list, name) => {
	const groups = new Map();
	for (const row of list) groups.set(name(row), [...groups.get(name(row)) ?? [], row]);
	return [...groups].map(([name, rows]) => ({ name, n: rows[0].key[1], rows, count: rows.reduce((sum, row) => sum + row.count.sum(0, steps), 0) }));
};
// The pairs of nodes and ports; if there are many, the servers' ports, and the busiest of these.
const requestGroups = (() => {
	const fine = groupsOf(requests, (row) => `${pairName(row.key)}:${row.key[2]}`);
	const groups = fine.length <= 24 ? fine : groupsOf(requests, (row) => `${data.nodes[row.key[1]] ?? "?"}:${row.key[2]}`);
	return groups.sort((a, b) => b.count - a.count).slice(0, 60);
})();
const most = (rows, step) => Math.max(...rows.map((row) => row.longest.most(step, step + 1)));
const quantileOf = (rows, from, to, share) => {
	const counts = rows.reduce((all, row) => row.counts(all, from, to), []);
	return quantile(counts, data.bins.requests.fine || 1, share, Math.max(...rows.map((row) => row.longest.most(from, to))));
};
const ofRequests = (value) => requestGroups.map((group) => ({ name: group.name, n: group.n,
	value: (step) => group.rows.some((row) => row.count.sum(step, step + 1)) ? value(group.rows, step) ?? NaN : group.n >= 0 && !isRecorded(group.n, step) ? NaN : NOTHING }));
const curveNumbers = new Map(curves.map((curve) => [curve.title, curve]));
const ofCurve = (title) => {
	const curve = curveNumbers.get(title);
	return curve ? [...curve.series].sort((a, b) => a[0] - b[0]).map(([n, list]) => ({ name: data.nodes[n] ?? "?", n, value: (step) => curveAt(list, (step + 0.5) * stepNs) ?? NaN })) : [];
};
const measures = [
	{ id: "busy", title: "processors busy", unit: "%", top: 100, rows: hasProcessors.includes(true) ? byNode((n, step) => {
		const known = laneSum(lanesOfNode[n], "known", step, step + 1);
		return known ? laneSum(lanesOfNode[n], "busy", step, step + 1) / known / 40 : NaN;
	}) : [] },
	{ id: "waiting", title: "threads waiting for a processor", unit: "", rows: hasProcessors.includes(true) ? byNode((n, step) =>
		laneSum(lanesOfNode[n], "known", step, step + 1) ? waiting[n].sum(step, step + 1) / stepNs : NaN) : [] },
	{ id: "disk", title: "disks busy", unit: "%", top: 100, rows: diskBusy.map((row) => ({ name: `${data.nodes[row.key[0]]} ${row.key[1]}`, n: row.key[0],
		value: (step) => isRecorded(row.key[0], step) ? row.took.sum(step, step + 1) / Math.min(stepNs, span - step * stepNs) * 100 : NaN })) },
	{ id: "slowest", title: "slowest request", unit: "span", log: true, rows: ofRequests(most) },
	{ id: "p99", title: "requests\u2019 99\u202f%", unit: "span", log: true, rows: data.bins.requests.fine ? ofRequests((rows, step) => quantileOf(rows, step, step + 1, 0.99)) : [] },
	{ id: "again", title: "segments sent again", unit: "", rows: losses.map((row) => ({ name: pairName(row.key), n: row.key[0], value: (step) => isRecorded(row.key[0], step) ? row.counts.get(step) ?? 0 : NaN })) },
	{ id: "bound", title: "bound of the clocks", unit: "span", log: true, rows: ofCurve("Bound of the clocks, \u00b1") },
	{ id: "sar", title: "processors busy (sar)", unit: "%", top: 100, rows: ofCurve("CPU busy (sar)") },
	{ id: "memory", title: "memory in use (sar)", unit: "bytes", rows: ofCurve("Memory in use (sar)") },
	{ id: "io", title: "disks, read and written (sar)", unit: "bytes/s", rows: ofCurve("Disks, read and written (sar)") },
	{ id: "net", title: "network, in and out (sar)", unit: "bytes/s", rows: ofCurve("Network, in and out (sar)") },
	{ id: "events", title: "events", unit: "", rows: data.nodes.flatMap((name, n) => densityOf[n] ? [{ name, n, value: (step) => {
		let sum = 0;
		for (let cell = Math.floor(step * stepNs / densityOf[n].step); cell * densityOf[n].step < (step + 1) * stepNs; cell++) sum += densityOf[n].cells.get(cell) ?? 0;
		return sum;
	} }] : []) },
].filter((one) => one.rows.length);
let measure = measures[0];

const measureText = (value, unit) => unit === "span" ? spanText(value) : unit === "" ? String(Number(value.toPrecision(3))) : valueText(value, unit);
// Dark to bright, or the other way round on a light ground: blue to yellow, which all eyes tell apart (cividis).
const scale = [[0, 32, 77], [60, 77, 110], [124, 123, 120], [187, 175, 113], [255, 234, 70]];
const shades = Array.from({ length: 256 }, (_, shade) => {
	const at = Math.min(3.9999, shade / 255 * 4), i = Math.floor(at);
	return `rgb(${scale[i].map((low, k) => Math.round(low + (scale[i + 1][k] - low) * (at - i))).join()})`;
});
const colourAt = (share, isDark) => shades[Math.round(255 * Math.min(1, Math.max(0, isDark ? share : 1 - share)))];
// All values of a measure, and their range, computed once.
const valuesOf = (one) => {
	if (one.values) return one;
	one.values = one.rows.map((row) => Float64Array.from({ length: steps }, (_, step) => row.value(step)));
	let least = Infinity, top = 0;
	for (const list of one.values) for (const value of list) if (value >= 0) {
		top = Math.max(top, value);
		if (value > 0) least = Math.min(least, value);
	}
	for (const row of beforeRows(one)) row.values.each(0, Infinity, (_, value) => {
		top = Math.max(top, value / row.unit);
		if (value > 0) least = Math.min(least, value / row.unit);
	});
	one.least = one.log && least < top ? least : 0;
	one.most = one.top ?? (top || 1);
	// The three greatest values, at least a fiftieth of the steps apart.
	one.worst = [];
	const isNear = (step) => one.worst.some((other) => Math.abs(other.step - step) <= steps / 50);
	while (one.worst.length < 3) {
		let worst = null;
		one.values.forEach((list, row) => list.forEach((value, step) => {
			if (value > (worst ? worst.value : 0) && !isNear(step)) worst = { row, step, value };
		}));
		if (!worst) break;
		one.worst.push(worst);
	}
	return one;
};
const shareOf = (one, value) => one.log ? one.least < one.most ? Math.log(Math.max(value, one.least) / one.least) / Math.log(one.most / one.least) : 1 : value / one.most;

const heatBox = make("div", byId("heat"), { className: "drawn" });
const heatBar = make("div", heatBox, { className: "bar", id: "measures" });
const heat = make("canvas", heatBox, { id: "map", tabIndex: 0 });
const worstList = make("p", heatBox, { className: "note", id: "worst" });
heat.setAttribute("role", "img");
let mapLabel = 0, mapWidth = 0, rowHeight = 0, marking = null;
const mapX = (step) => mapLabel + step / steps * (mapWidth - mapLabel);
const stepAt = (px) => Math.max(0, Math.min(steps - 1, Math.floor((px - mapLabel) / (mapWidth - mapLabel) * steps)));

const drawScale = (pen, ink, one, y, isDark) => {
	const wide = Math.min(220, (mapWidth - mapLabel) / 4);
	for (let i = 0; i < wide; i++) {
		pen.fillStyle = colourAt(i / (wide - 1), isDark);
		pen.fillRect(mapLabel + i, y, 1.5, 9);
	}
	pen.fillStyle = ink("dim");
	const low = measureText(one.least, one.unit), high = measureText(one.most, one.unit);
	pen.textAlign = "right";
	pen.fillText(low, mapLabel - 4, y + 9);
	pen.textAlign = "left";
	pen.fillText(high, mapLabel + wide + 5, y + 9);
	const after = mapLabel + wide + pen.measureText(high).width + 18;
	pen.fillStyle = hatched(pen, ink("hatch"));
	pen.fillRect(after, y, 16, 9);
	pen.fillStyle = ink("dim");
	pen.fillText("not recorded", after + 21, y + 9);
};
const drawHeatNow = () => {
	if (!measure) return;
	const one = valuesOf(measure), isDark = night.mediaText === "all" || (night.mediaText === preferred.media && preferred.matches);
	// On a small page as wide as the longest name, but at most about a third of the picture.
	const probe = heat.getContext("2d"), isSmall = heatBox.clientWidth < 600;
	probe.font = "11px system-ui, sans-serif";
	mapLabel = isSmall ? Math.round(Math.min(heatBox.clientWidth * 0.36, Math.max(60, ...one.rows.map((row) => probe.measureText(row.name).width + 10)))) : 150;
	mapWidth = Math.max(heatBox.clientWidth, mapLabel + 40);
	rowHeight = Math.max(5, Math.min(20, Math.floor(480 / one.rows.length)));
	const bottom = one.rows.length * rowHeight + 14, pen = sized(heat, mapWidth, bottom + 34), ink = colours(), pattern = hatched(pen, ink("hatch"));
	heat.setAttribute("aria-label", `${one.title} by time; arrows move the window, Escape ends it`);
	pen.font = "11px system-ui, sans-serif";
	const every = Math.ceil(11 / rowHeight);
	one.rows.forEach((row, r) => {
		const y = 14 + r * rowHeight, h = rowHeight - (rowHeight > 7 ? 1 : 0);
		if (r % every === 0) {
			pen.fillStyle = ink("fg");
			pen.fillText(shortened(pen, row.name, mapLabel - 8), 0, y + h / 2 + 4);
		}
		pen.fillStyle = ink("lane");
		pen.fillRect(mapLabel, y, mapWidth - mapLabel, h);
		// A column of the picture that has several steps shows the worst of them.
		const wide = Math.max(1, Math.ceil(steps / (mapWidth - mapLabel)));
		for (let step = 0; step < steps; step += wide) {
			let value = NOTHING, isKnown = false;
			for (let i = step; i < Math.min(steps, step + wide); i++) {
				isKnown ||= !Number.isNaN(one.values[r][i]);
				if (one.values[r][i] > value) value = one.values[r][i];
			}
			if (isKnown && value < 0) continue;
			pen.fillStyle = isKnown ? colourAt(shareOf(one, value), isDark) : pattern;
			const a = Math.round(mapX(step)), b = Math.round(mapX(Math.min(steps, step + wide)));
			pen.fillRect(a, y, b - a, h);
		}
	});
	pen.font = "bold 11px system-ui, sans-serif";
	one.worst.forEach(({ row, step }, i) => {
		const at = mapX(step), wide = Math.max(3, mapX(step + 1) - at);
		pen.strokeStyle = pen.fillStyle = ink("slow");
		pen.lineWidth = 2;
		pen.strokeRect(at - 1, 13 + row * rowHeight, wide + 2, rowHeight + 1);
		pen.fillText(String(i + 1), Math.min(mapWidth - 8, at - 2), 10);
	});
	const shown = marking ?? selected;
	if (shown) {
		pen.fillStyle = ink("bg");
		pen.globalAlpha = 0.55;
		pen.fillRect(mapLabel, 12, mapX(shown[0]) - mapLabel, bottom - 12);
		pen.fillRect(mapX(shown[1]), 12, mapWidth - mapX(shown[1]), bottom - 12);
		pen.globalAlpha = 1;
		pen.strokeStyle = ink("fg");
		pen.lineWidth = 1.5;
		pen.strokeRect(mapX(shown[0]), 12, Math.max(2, mapX(shown[1]) - mapX(shown[0])), bottom - 12);
	}
	pen.lineWidth = 1;
	pen.font = "11px system-ui, sans-serif";
	pen.fillStyle = ink("dim");
	const last = seconds(Math.round(span / 1e6) * 1e6) + "\u202fs";
	pen.fillText("0", mapLabel, bottom + 12);
	pen.fillText(last, mapWidth - pen.measureText(last).width, bottom + 12);
	drawScale(pen, ink, one, bottom + 20, isDark);
	drawBefore(one, ink, isDark);
};
const drawHeat = perFrame(drawHeatNow);
const showMeasures = () => {
	heatBar.replaceChildren();
	for (const one of measures) button(heatBar, one.title, `show ${one.title}`, () => setMeasure(one.id)).setAttribute("aria-pressed", one === measure);
	worstList.replaceChildren();
	if (!measure) return;
	const { worst, rows, title, unit } = valuesOf(measure);
	make("span", worstList, { textContent: worst.length ? `Worst of ${title}: ` : `${title}: nothing in the whole page.` });
	worst.forEach((cell, i) => button(worstList, `${i + 1}: ${rows[cell.row].name}, ${seconds(Math.round(cell.step * stepNs / 1e6) * 1e6)}\u202fs, ${measureText(cell.value, unit)}`,
		`select the step ${i + 1}`, () => select([cell.step, cell.step + 1])));
};
const setMeasure = (id) => {
	measure = measures.find((one) => one.id === id) ?? measure;
	address();
	showWindow();
	showMeasures();
	drawHeat();
};
const mapPoint = (event) => {
	const box = heat.getBoundingClientRect();
	return [event.clientX - box.left, event.clientY - box.top];
};
let pressed = null;
heat.addEventListener("pointerdown", (event) => {
	const [px] = mapPoint(event);
	if (px < mapLabel) return;
	pressed = stepAt(px);
	heat.setPointerCapture(event.pointerId);
});
heat.addEventListener("pointermove", (event) => {
	const [px, py] = mapPoint(event), step = stepAt(px), row = Math.floor((py - 14) / rowHeight);
	if (pressed !== null) {
		marking = [Math.min(pressed, step), Math.max(pressed, step) + 1];
		drawHeat();
	}
	const value = px >= mapLabel && measure ? valuesOf(measure).values[row]?.[step] : undefined;
	tell(value === undefined ? "" : `${measure.rows[row].name}\n${seconds(Math.round(step * stepNs / 1e3) * 1e3)}\u202fs\n${measure.title}: ${Number.isNaN(value) ? "not recorded" : value < 0 ? "nothing" : measureText(value, measure.unit)}`, event.clientX, event.clientY);
});
heat.addEventListener("pointerup", (event) => {
	if (pressed === null) return;
	const step = stepAt(mapPoint(event)[0]);
	const window = [Math.min(pressed, step), Math.max(pressed, step) + 1];
	pressed = marking = null;
	select(window);
});
heat.addEventListener("pointercancel", () => {
	pressed = marking = null;
	drawHeat();
});
heat.addEventListener("pointerleave", () => tell(""));
heat.addEventListener("keydown", (event) => {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
	if (event.key === "Escape") select(null);
	if (!by) return;
	event.preventDefault();
	const [from, to] = selected ?? [by > 0 ? -1 : steps, by > 0 ? 0 : steps + 1], at = Math.max(0, Math.min(steps - (to - from), from + by * (to - from)));
	select([at, at + to - from]);
});
