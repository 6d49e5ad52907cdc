// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a span, a message or a step under the pointer.
// ---- what is under the pointer
const utc = (t) => {
	const ms = data.beginMs + Math.floor(t / 1e6);
	return new Date(ms).toISOString().replace("T", " ").replace("Z", "") + String(Math.floor(t % 1e6)).padStart(6, "0") + " UTC";
};
const ofThread = (thread) => `${thread.name} (${thread.tid})`;
const edges = (item) => [["begin", (item.cut & 1 ? "before " : "") + utc(item.from)], ["took", (item.cut ? "at least " : "") + spanText(item.to - item.from)]];
const trackFields = (item, n) => [["what", item.name], ["node", data.nodes[n]], ...item.fields, ...edges(item)];
const spanFields = (item, n) => [
	["what", item.thread ? ofThread(item.thread) : item.soft ? "softirq" : "interrupt"],
	...item.thread ? [["process", item.thread.process], ["state", states[item.state] + (item.wait ? `: waits for ${waits[item.wait]}` : "")]] : [["handler", `${item.name} (${item.number})`]],
	["node", data.nodes[n]], ...item.cpu >= 0 ? [["processor", item.cpu]] : [],
	...edges(item),
	...item.thread && item.other >= 0 ? [[item.state === 1 ? "priority" : "woken by thread", item.other]] : []];
const linkFields = (link) => [
	["what", `message ${link.id}, ${link.protocol}`],
	["from", `${data.nodes[lanes[link.a].n]}${link.sport >= 0 ? ", port " + link.sport : ""}`],
	["to", `${data.nodes[lanes[link.b].n]}${link.dport >= 0 ? ", port " + link.dport : ""}`],
	...link.bytes >= 0 ? [["bytes", link.bytes]] : [], ["sent", utc(link.sent)], ["received", utc(link.came)],
	["took", spanText(link.came - link.sent)],
	["surely", link.low === null ? "no bound" : `${spanText(Math.max(0, link.came - link.sent + link.low))} to ${spanText(link.came - link.sent + link.high)}`]];
const rowAt = (y) => rows.find((row) => y >= row.y - 1 && y < row.y + row.h + 1);
const spanAt = (list, t) => {
	const slack = (t1 - t0) / (width - label) * 2, i = firstFrom(list, t - slack);
	return i < list.length && list[i].from <= t + slack ? list[i] : null;
};
const pickAt = (px, py) => {
	if (px < label) return null;
	const t = timeAt(px), row = rowAt(py);
	let best = null, nearest = 5;
	for (const link of linksShown()) {
		const [a, ya, b, yb] = linkEnds(link), dx = b - a, dy = yb - ya;
		const k = Math.min(1, Math.max(0, ((px - a) * dx + (py - ya) * dy) / (dx * dx + dy * dy || 1)));
		const far = Math.hypot(px - a - k * dx, py - ya - k * dy);
		if (far < nearest) [nearest, best] = [far, link];
	}
	if (best && (!row || nearest < 3)) return { link: best, fields: linkFields(best) };
	if (!row) return null;
	if (row.before) {
		const step = Math.floor(t / data.before.stepNs), { name, node, busy, irq } = row.before, known = knownBefore(node);
		return { fields: [["in", data.before.file], ["processor", name], ["at", spanText(t)],
			...known?.has(step) ? [["busy", valueText(busy.sum(step, step + 1) / 1e3, "%")], ["interrupts", valueText(irq.sum(step, step + 1) / 1e3, "%")]] : [["state", "not recorded"]]] };
	}
	if (row.curve) return { fields: [["what", row.name], ["at", utc(t)], ...row.curve.series.map(([n, list]) => [data.nodes[n], curveAt(list, t)]).filter((pair) => pair[1] !== null).sort((a, b) => b[1] - a[1]).slice(0, 12).map(([name, value]) => [name, valueText(value, row.curve.unit)])] };
	if (row.track) {
		const item = spanAt(row.track.items, t);
		return item ? { row, box: item, fields: trackFields(item, row.n) } : null;
	}
	if (row.density) {
		const { cells, step } = row.density;
		return { row, box: null, fields: [["node", data.nodes[row.n]], ["at", utc(t)], ["events", `${cells.get(Math.floor(t / step)) ?? 0} in ${spanText(step)}`]] };
	}
	const inWindow = windowsShown().some((window) => t >= window.from && t < window.to);
	if (row.thread) {
		const item = inWindow ? spanAt(row.thread.spans, t) : null;
		return { row, box: item, fields: item ? spanFields(item, row.n) : [["what", ofThread(row.thread)], ["process", row.thread.process], ["node", data.nodes[row.n]], ["ran in all", spanText(row.thread.ran)]] };
	}
	const lane = lanes[row.lanes[0]];
	if (inWindow && row.lanes.length === 1) {
		const low = py > row.y + row.h * 0.62, item = (low ? spanAt(lane.irqs, t) : null) ?? spanAt(lane.runs, t) ?? spanAt(lane.irqs, t);
		if (item) return { row, box: item, fields: [...spanFields(item, row.n), ...item.thread ? [] : [["processor", lane.c]]] };
	}
	const gap = gapsOfRow(row).some(([from, to]) => t >= from && t < to);
	const from = Math.floor(t / cellNs) * cellNs, width_ = Math.max(cellNs, (t1 - t0) / (width - label));
	const sum = sumOf(row.lanes, from, from + width_);
	return { row, box: null, fields: [["node", data.nodes[row.n]], ...row.lanes.length === 1 && lane.c >= 0 ? [["processor", lane.c]] : [],
		["at", utc(t)], ...gap || sum.busy < 0 ? [["state", "not recorded"]] : [["busy", valueText(sum.busy * 100, "%")],
			...sum.who >= 0 ? [["most of it", ofThread(threads[sum.who])]] : []],
		...sum.irq + sum.soft > 0 ? [["interrupts", valueText(sum.irq * 100, "%")], ["softirqs", valueText(sum.soft * 100, "%")]] : [], ["mean of", spanText(width_)]] };
};
const showPicked = () => {
	panel.hidden = !picked;
	panel.replaceChildren();
	if (!picked) return;
	const list = make("dl", panel);
	for (const [name, value] of picked.fields) {
		const item = make("div", list);
		make("dt", item, { textContent: name });
		make("dd", item, { textContent: value });
	}
	const thread = picked.box?.thread;
	if (thread && !pinned.includes(thread)) button(panel, "show this thread", "a row for this thread", () => pin(thread, false));
	button(panel, "\u00d7", "close", () => {
		picked = null;
		showPicked();
		draw();
	});
};
