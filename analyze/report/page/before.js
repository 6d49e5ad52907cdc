// SPDX-License-Identifier: GPL-3.0-or-later
// The map of the run that this one is held against, below the map and on its scale.
const beforeUnits = { busy: 1e3, waiting: 1e3, disk: 1e3, slowest: 1, again: 1 };
const beforeStep = data.before ? data.before.stepNs / data.before.span : 0; // of its width
const beforeRowsOf = {};
function beforeRows(one) {
	if (!data.before || !beforeUnits[one.id]) return [];
	return beforeRowsOf[one.id] ??= (() => {
		const all = data.before.rows.filter((row) => row[0] === one.id), own = one.rows.map((row) => row.name);
		// The same rows in the same order; others only if the run had other nodes.
		const both = own.filter((name) => all.some((row) => row[1] === name));
		return (both.length ? both : all.slice(0, 60).map((row) => row[1])).map((name) =>
			({ name, unit: beforeUnits[one.id], node: all.find((row) => row[1] === name)[2], values: series(all.find((row) => row[1] === name)[3]) }));
	})();
}
// The steps of which a node's kernel was traced; null: it never was, so that nothing is known of holes.
const beforeKnown = new Map();
function knownBefore(node) {
	if (!beforeKnown.has(node)) {
		const row = data.before.rows.find((one) => one[0] === "known" && one[1] === node), known = row ? new Set() : null;
		if (row) series(row[3]).each(0, Infinity, (step) => known.add(step));
		beforeKnown.set(node, known);
	}
	return beforeKnown.get(node);
}
function hatchBefore(pen, pattern, node, x, y, h) {
	const known = knownBefore(node), all = Math.ceil(1 / beforeStep);
	pen.fillStyle = pattern;
	for (let step = 0, from; known && step < all; step++) {
		if (known.has(step)) continue;
		for (from = step; step + 1 < all && !known.has(step + 1);) step++;
		pen.fillRect(x(from), y, x(Math.min(all, step + 1)) - x(from), h);
	}
}
// The other run's processors below those of this one, on the same time axis: each run counts from its begin.
const beforeLanes = data.before ? data.before.rows.filter((row) => row[0] === "lane").slice(0, 64).map(([, name, node, values]) => ({ name, node, busy: series(values),
	irq: series(data.before.rows.find((row) => row[0] === "lane-irq" && row[1] === name)[3]) })) : [];
function drawBeforeLane(pen, ink, pattern, row) {
	const { node, busy, irq } = row.before, ns = data.before.stepNs, from = Math.floor(t0 / ns), to = Math.ceil(t1 / ns);
	const at = (step) => Math.min(width, Math.max(label, x(Math.min(data.before.span, step * ns))));
	pen.fillStyle = ink("lane");
	pen.fillRect(at(0), row.y, at(data.before.span / ns) - at(0), row.h);
	hatchBefore(pen, pattern, node, at, row.y, row.h);
	for (const [values, colour] of [[busy, "run"], [irq, "irq"]]) {
		pen.fillStyle = ink(colour);
		values.each(from, to, (step, value) => {
			const h = Math.min(1, value / 1e5) * row.h;
			if (h > 0.2) pen.fillRect(at(step), row.y + row.h - h, Math.max(0.5, at(step + 1) - at(step)), h);
		});
	}
}
const beforeTitle = make("p", heatBox, { className: "note", id: "before", hidden: true });
const beforeMap = make("canvas", heatBox, { id: "map-before", hidden: true });
beforeMap.setAttribute("role", "img");
function drawBefore(one, ink, isDark) {
	const list = beforeRows(one);
	beforeTitle.hidden = !data.before;
	beforeMap.hidden = !list.length;
	if (!data.before) return;
	beforeTitle.textContent = `Before: ${data.before.file}, ${spanText(data.before.span)}` + (list.length ? ", on the same scale" : `; of ${one.title} it has nothing to show`);
	if (!list.length) return;
	beforeMap.setAttribute("aria-label", `${one.title} by time in ${data.before.file}`);
	const pen = sized(beforeMap, mapWidth, list.length * rowHeight + 2), wide = mapWidth - mapLabel, pattern = hatched(pen, ink("hatch"));
	pen.font = "11px system-ui, sans-serif";
	list.forEach((row, r) => {
		const y = r * rowHeight, h = rowHeight - (rowHeight > 7 ? 1 : 0);
		if (r % Math.ceil(11 / rowHeight) === 0) {
			pen.fillStyle = ink("fg");
			pen.fillText(shortened(pen, row.name, mapLabel - 8), 0, y + h / 2 + 4);
		}
		pen.fillStyle = ink("lane");
		pen.fillRect(mapLabel, y, wide, h);
		hatchBefore(pen, pattern, row.node, (step) => mapLabel + Math.min(1, step * beforeStep) * wide, y, h);
		row.values.each(0, Infinity, (step, value) => {
			if (!value && one.id !== "busy") return;
			const a = Math.round(mapLabel + step * beforeStep * wide), b = Math.round(mapLabel + (step + 1) * beforeStep * wide);
			pen.fillStyle = colourAt(shareOf(one, value / row.unit), isDark);
			pen.fillRect(a, y, Math.max(1, b - a), h);
		});
	});
}
