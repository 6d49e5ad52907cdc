// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline's picture.
const drawCells = (pen, ink, row, from, to) => {
	const step = Math.max(1, cellNs / (t1 - t0) * (width - label));
	for (let px = Math.max(label, x(from)); px < x(to) - 1e-6; px += step) {
		const sum = sumOf(row.lanes, timeAt(px), Math.min(timeAt(px + step), to), byThread || matches !== null);
		const w = Math.min(step, x(to) - px) + 0.3;
		if (sum.busy > 0) {
			const h = Math.max(1, sum.busy * row.h);
			pen.globalAlpha = matches && dim(threads[sum.who]) ? 0.18 : 1;
			pen.fillStyle = ink(byThread ? sum.who < 0 ? "k8" : colourOfName(threads[sum.who].name) : "run");
			pen.fillRect(px, row.y + row.h - h, w, h);
		}
		pen.globalAlpha = matches ? 0.18 : 1;
		const soft = sum.soft * row.h, irq = sum.irq * row.h;
		pen.fillStyle = ink("soft");
		if (soft > 0.2) pen.fillRect(px, row.y + row.h - soft, w, soft);
		pen.fillStyle = ink("irq");
		if (irq > 0.2) pen.fillRect(px, row.y + row.h - soft - irq, w, irq);
		pen.globalAlpha = 1;
	}
};
const drawSpans = (pen, list, from, to, y, h, colour, text) => {
	let last = -1;
	for (let i = firstFrom(list, from); i < list.length && list[i].from < to; i++) {
		const a = Math.max(x(list[i].from), label), b = Math.min(x(list[i].to), width);
		if (b < last + 0.4) continue;
		last = b;
		const fill = colour(list[i]);
		if (!fill) continue;
		pen.globalAlpha = list[i].thread && text && dim(list[i].thread) ? 0.18 : 1;
		pen.fillStyle = fill;
		pen.fillRect(a, y, Math.max(b - a > 4 ? b - a - 0.6 : b - a, 0.7), h);
		if (text && b - a > 34 && h >= 10) {
			pen.save();
			pen.beginPath();
			pen.rect(a, y, b - a - 2, h);
			pen.clip();
			pen.fillStyle = colours()("bg");
			pen.fillText(text(list[i]), a + 3, y + h / 2 + 4);
			pen.restore();
		}
	}
	pen.globalAlpha = 1;
};
const gapsOfRow = (row) => row.lanes?.length === 1 ? lanes[row.lanes[0]].gaps : nodeGaps[row.n];
const drawGaps = (pen, pattern, row) => {
	for (const [from, to] of gapsOfRow(row)) {
		if (to <= t0 || from >= t1) continue;
		const a = Math.max(label, x(from)), b = Math.min(width, x(to));
		pen.fillStyle = pattern;
		pen.fillRect(a, row.y, b - a, row.h);
	}
};
// Within what was recorded, where no thread is known to have had the processor.
const drawUnknown = (pen, pattern, row) => {
	const step = Math.max(2, cellNs / (t1 - t0) * (width - label));
	pen.fillStyle = pattern;
	for (let px = label; px < width; px += step)
		if (sumOf(row.lanes, timeAt(px), timeAt(px + step), false).busy < 0)
			pen.fillRect(px, row.y, Math.min(step, width - px), row.h);
};
const drawLane = (pen, ink, pattern, row) => {
	pen.fillStyle = ink("lane");
	pen.fillRect(label, row.y, width - label, row.h);
	drawUnknown(pen, pattern, row);
	drawGaps(pen, pattern, row);
	const shown = row.lanes.length === 1 ? windowsShown() : [];
	let at = t0;
	for (const window of shown.toSorted((a, b) => a.from - b.from)) {
		const from = Math.max(at, window.from), to = Math.min(t1, window.to);
		if (from > at) drawCells(pen, ink, row, at, from);
		if (to <= from) continue;
		const lane = lanes[row.lanes[0]];
		drawSpans(pen, lane.runs, from, to, row.y, row.h, (item) => ink(byThread ? colourOfName(item.thread.name) : "run"), (item) => item.thread.name);
		const h = Math.max(3, row.h * 0.35);
		drawSpans(pen, lane.irqs, from, to, row.y + row.h - h, h, (item) => ink(item.soft ? "soft" : "irq"));
		at = to;
	}
	if (at < t1) drawCells(pen, ink, row, at, t1);
};
// A sleep has the colour of what ended it, whatever kind of sleep it was.
const stateColour = (ink) => (item) => ink(["ready", "run"][item.state] ?? ["sleep", "disk", "net", "timer", "irq", "thread"][item.wait]);
const drawTrack = (pen, ink, row) => {
	pen.fillStyle = ink("lane");
	pen.fillRect(label, row.y, width - label, row.h);
	drawSpans(pen, row.track.items, t0, t1, row.y, row.h, (item) => ink(item.kind), (item) => item.name);
};
const drawDensity = (pen, ink, row) => {
	const { cells, step, most } = row.density;
	pen.fillStyle = ink("lane");
	pen.fillRect(label, row.y, width - label, row.h);
	pen.fillStyle = ink("event");
	for (const [cell, count] of cells) {
		const a = Math.max(label, x(cell * step)), b = Math.min(width, x((cell + 1) * step)), h = Math.max(1.5, row.h * Math.log1p(count) / Math.log1p(most));
		if (b > a) pen.fillRect(a, row.y + row.h - h, Math.max(b - a, 0.7), h);
	}
};
const drawThread = (pen, ink, pattern, row) => {
	const { thread } = row;
	pen.fillStyle = ink("lane");
	pen.fillRect(label, row.y, width - label, row.h);
	drawGaps(pen, pattern, row);
	const shown = windowsShown();
	thread.run.each(0, steps, (step, ran) => {
		const from = Math.max(t0, step * stepNs), to = Math.min(t1, (step + 1) * stepNs);
		if (!ran || from >= to || shown.some((window) => window.from <= from && window.to >= to)) return;
		const h = Math.max(1.5, Math.min(1, ran / stepNs) * row.h);
		pen.fillStyle = ink("run");
		pen.fillRect(x(from), row.y + row.h - h, x(to) - x(from), h);
	});
	for (const window of shown) {
		const from = Math.max(t0, window.from), to = Math.min(t1, window.to);
		pen.fillStyle = ink("lane");
		pen.fillRect(x(from), row.y, x(to) - x(from), row.h);
		drawSpans(pen, thread.spans, from, to, row.y, row.h, stateColour(ink), (item) => item.wait ? waits[item.wait] : states[item.state]);
	}
};
const laneY = (lane, towards) => {
	const row = rows[rowOfLane[lane]];
	return towards === 0 ? row.y + row.h / 2 : towards > 0 ? row.y + row.h : row.y;
};
const linkEnds = (link) => {
	const way = Math.sign(rowOfLane[link.b] - rowOfLane[link.a]);
	return [x(link.sent), laneY(link.a, way), x(link.came), laneY(link.b, -way)];
};
const linksShown = () => links.filter((link) => link.came >= t0 && link.sent <= t1);
const drawLinks = (pen, ink) => {
	const shown = linksShown(), alpha = Math.max(0.12, Math.min(0.8, 120 / (shown.length + 1)));
	for (const link of shown.reverse()) {
		const [a, ya, b, yb] = linkEnds(link), isPicked = picked?.link === link;
		pen.strokeStyle = ink(link.slow || isPicked ? "slow" : "msg");
		pen.fillStyle = pen.strokeStyle;
		pen.globalAlpha = isPicked ? 1 : link.slow ? 0.8 : alpha;
		pen.lineWidth = isPicked ? 2.5 : link.slow ? 1.4 : 1;
		pen.beginPath();
		pen.moveTo(a, ya);
		pen.lineTo(b, yb);
		pen.stroke();
		if (shown.length > 300 && !link.slow) continue;
		const turn = Math.atan2(yb - ya, b - a);
		pen.beginPath();
		pen.moveTo(b, yb);
		for (const side of [0.4, -0.4]) pen.lineTo(b - 7 * Math.cos(turn + side), yb - 7 * Math.sin(turn + side));
		pen.fill();
	}
	pen.globalAlpha = 1;
	pen.lineWidth = 1;
};
const curveAt = (list, t) => {
	for (let i = 0; i < list.length; i += 3) if (t >= list[i] && t < list[i + 1]) return list[i + 2];
	return null;
};
const curveMost = (curve) => {
	let most = 0;
	for (const [, list] of curve.series)
		for (let i = 0; i < list.length; i += 3)
			if (list[i + 1] > t0 && list[i] < t1) most = Math.max(most, list[i + 2]);
	return curve.unit === "%" ? 100 : most || 1;
};
const drawCurve = (pen, ink, pattern, row) => {
	const { curve } = row, most = curveMost(curve), known = new Uint8Array(Math.ceil(width - label) + 1);
	for (const [, list] of curve.series)
		for (let i = 0; i < list.length; i += 3)
			if (list[i + 1] > t0 && list[i] < t1)
				known.fill(1, Math.max(0, Math.floor(x(list[i]) - label)), Math.min(known.length, Math.ceil(x(list[i + 1]) - label)));
	pen.fillStyle = ink("lane");
	pen.fillRect(label, row.y, width - label, row.h);
	pen.fillStyle = pattern;
	for (let i = 0, j; i < known.length; i = j + 1) {
		for (j = i; j < known.length && !known[j];) j++;
		if (j > i) pen.fillRect(label + i, row.y, Math.min(j - i, width - label - i), row.h);
	}
	const few = curve.series.length <= 8 && !byThread; // else these colours are threads'
	for (const [n, list] of [...curve.series].sort((a, b) => (a[0] === hot) - (b[0] === hot))) {
		pen.strokeStyle = ink(few ? "k" + n % 9 : n === hot ? "slow" : "msg");
		pen.globalAlpha = n === hot ? 1 : few ? hot >= 0 ? 0.5 : 0.9 : Math.max(0.06, 6 / curve.series.length);
		pen.lineWidth = n === hot ? 2 : 1.3;
		pen.beginPath();
		let end = null;
		for (let i = 0; i < list.length; i += 3) {
			if (list[i + 1] < t0 || list[i] > t1) continue;
			const a = Math.max(label, x(list[i])), b = Math.min(width, x(list[i + 1])), y = row.y + row.h - 1 - list[i + 2] / most * (row.h - 3);
			if (end !== null && Math.abs(list[i] - end) < (list[i + 1] - list[i]) / 2) pen.lineTo(a, y); else pen.moveTo(a, y);
			pen.lineTo(b, y);
			end = list[i + 1];
		}
		pen.stroke();
	}
	pen.globalAlpha = 1;
	pen.lineWidth = 1;
	const wide = label > 100, title = row.name + (curve.merged > 1 ? `, means of ${curve.merged} samples` : "") + (wide ? "" : `, to ${valueText(most, curve.unit)}`);
	pen.fillStyle = ink("bg");
	pen.fillRect(label, row.y - 17, pen.measureText(title).width + 4, 16);
	pen.fillStyle = ink("fg");
	pen.fillText(title, label, row.y - 5);
	if (!wide) return;
	pen.fillStyle = ink("dim");
	pen.textAlign = "right";
	pen.fillText(valueText(most, curve.unit), label - 6, row.y + 10);
	pen.fillText("0", label - 6, row.y + row.h);
	pen.textAlign = "left";
};

// Steps of 1, 2 or 5; where labels would be long they count from a base.
const drawAxis = (pen, ink) => {
	const shown = t1 - t0, wanted = Math.max(2, Math.floor((width - label) / 110));
	let step = 10 ** Math.floor(Math.log10(shown / wanted));
	for (const factor of [5, 2]) if (shown / (step * factor) >= wanted) {
		step *= factor;
		break;
	}
	while (shown / step > wanted * 1.6) step *= 2;
	const base = step < 1e6 ? Math.floor(t0 / (step * 10)) * step * 10 : 0;
	const places = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
	pen.strokeStyle = ink("line");
	pen.fillStyle = ink("dim");
	for (let k = Math.ceil((t0 - base) / step - 1e-9); base + k * step <= t1; k++) {
		const at = Math.round(x(base + k * step)) + 0.5;
		pen.beginPath();
		pen.moveTo(at, 20);
		pen.lineTo(at, height);
		pen.stroke();
		const text = base ? "+" + spanText(k * step) : (k * step / 1e9).toFixed(places) + "\u202fs";
		const half = pen.measureText(text).width / 2;
		if (at + half < width && at - half > label - 10) pen.fillText(text, at - half, 14);
	}
	if (base) pen.fillText((base / 1e9).toFixed(Math.min(places, 9)) + "\u202fs", 0, 14);
};
const drawMarks = (pen, ink) => {
	pen.fillStyle = ink("accent");
	for (const window of data.exact)
		if (window.request && window.to > t0 && window.from < t1) {
			const a = Math.max(label, x(window.from));
			pen.fillRect(a, 21, Math.max(2, Math.min(width, x(window.to)) - a), 3);
		}
};
const drawLabel = (pen, ink, row) => {
	if (row.curve) return;
	pen.fillStyle = ink("fg");
	if (row.title) pen.fillText(row.title, label, row.y - 6);
	const size = Math.min(12, row.h + 1);
	pen.font = `${row.thread ? "italic " : ""}${size}px system-ui, sans-serif`;
	const fits = !row.name || pen.measureText(row.sub + row.name).width < label - 14 || pen.measureText(row.sub).width < 16;
	const sub = row.sub && row.h >= 9 && (fits || label > 100) ? row.sub : "";
	const room = label - 10 - (sub ? pen.measureText(sub).width + 6 : 0);
	pen.fillText(shortened(pen, row.name, room), 0, row.y + row.h / 2 + size * 0.36);
	pen.fillStyle = ink("dim");
	if (sub) pen.fillText(sub, label - 6 - pen.measureText(sub).width, row.y + row.h / 2 + size * 0.36);
	pen.font = "12px system-ui, sans-serif";
};

const drawNow = () => {
	layOut();
	paintRows();
};
const draw = perFrame(drawNow);
// Set what is shown and where, and the size of the canvas.
const layOut = () => {
	label = view.clientWidth < 600 ? 62 : 116;
	width = Math.max(view.clientWidth, label + 40);
	place();
	sized(canvas, width, height);
	range.textContent = `${(t0 / 1e9).toFixed(6).replace(/0{1,4}$/, "")} \u2013 ${(t1 / 1e9).toFixed(6).replace(/0{1,4}$/, "")}\u202fs (${spanText(t1 - t0)})`;
	root.dataset.from = Math.round(t0);
	root.dataset.to = Math.round(t1);
	root.dataset.exact = windowsShown().length;
	drawLegend();
};
const paintRows = () => {
	const pen = sized(canvas, width, height), ink = colours(), pattern = hatched(pen, ink("hatch"));
	pen.font = "12px system-ui, sans-serif";
	drawAxis(pen, ink);
	drawMarks(pen, ink);
	for (const row of rows) {
		if (row.before) drawBeforeLane(pen, ink, pattern, row);
		else if (row.curve) drawCurve(pen, ink, pattern, row);
		else if (row.thread) drawThread(pen, ink, pattern, row);
		else if (row.track) drawTrack(pen, ink, row);
		else if (row.density) drawDensity(pen, ink, row);
		else drawLane(pen, ink, pattern, row);
		drawLabel(pen, ink, row);
	}
	drawLinks(pen, ink);
	if (cursor !== null && cursor >= t0 && cursor <= t1) {
		pen.fillStyle = ink("fg");
		pen.globalAlpha = 0.5;
		pen.fillRect(x(cursor), 20, 1, height);
		pen.globalAlpha = 1;
	}
	if (picked?.box && picked.box.to > t0 && picked.box.from < t1) {
		const row = rows.find((one) => one.thread === picked.row.thread && one.track === picked.row.track && one.lanes?.[0] === picked.row.lanes?.[0] && !one.curve && !one.density);
		pen.strokeStyle = ink("slow");
		pen.lineWidth = 2;
		if (row) pen.strokeRect(x(picked.box.from), row.y, Math.max(2, x(picked.box.to) - x(picked.box.from)), row.h);
		pen.lineWidth = 1;
	}
};
const drawLegend = () => {
	const keys = [];
	if (hasProcessors.includes(true)) keys.push(...byThread ? [...named.map((name, i) => ["k" + i, name]), ["k8", "others"]] : [["run", "a thread runs"]], ["soft", "softirq"], ["irq", "interrupt"], ["lane", "idle"]);
	keys.push(["hatch", "not recorded"]);
	if (links.length) keys.push(["msg", "message"], ["slow", "one of the slowest"]);
	if (pinned.length) keys.push(["ready", "waits for a processor"], ["net", "waits for the network"], ["disk", "for a disk"], ["timer", "for a timer"], ["irq", "for an interrupt"], ["thread", "for a thread"], ["sleep", "sleeps, not known for what"]);
	if (densityOf.some(Boolean)) keys.push(["event", "events"]);
	if (data.tasks.length) keys.push(["task", "task"]);
	if (data.periods.length) keys.push(["period", "period of user space"]);
	if (data.nodes.length <= 8 && !byThread) data.nodes.forEach((name, i) => {
		if (curves.some((curve) => curve.series.some(([n]) => n === i))) keys.push(["k" + i, "curve of " + name]);
	});
	const text = JSON.stringify(keys);
	if (legend.dataset.keys === text) return;
	legend.dataset.keys = text;
	legend.replaceChildren();
	for (const [name, words] of keys) make("span", legend, { className: "key " + name, textContent: words });
};
