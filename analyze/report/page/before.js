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
			({ name, unit: beforeUnits[one.id], values: series(all.find((row) => row[1] === name)[2]) }));
	})();
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
	const pen = sized(beforeMap, mapWidth, list.length * rowHeight + 2), wide = mapWidth - mapLabel;
	pen.font = "11px system-ui, sans-serif";
	list.forEach((row, r) => {
		const y = r * rowHeight, h = rowHeight - (rowHeight > 7 ? 1 : 0);
		if (r % Math.ceil(11 / rowHeight) === 0) {
			pen.fillStyle = ink("fg");
			pen.fillText(shortened(pen, row.name), 0, y + Math.min(rowHeight, 11) * 0.85);
		}
		pen.fillStyle = ink("lane");
		pen.fillRect(mapLabel, y, wide, h);
		row.values.each(0, Infinity, (step, value) => {
			if (!value && one.id !== "busy") return;
			const a = Math.round(mapLabel + step * beforeStep * wide), b = Math.round(mapLabel + (step + 1) * beforeStep * wide);
			pen.fillStyle = colourAt(shareOf(one, value / row.unit), isDark);
			pen.fillRect(a, y, Math.max(1, b - a), h);
		});
	});
}
