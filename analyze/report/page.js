// SPDX-License-Identifier: GPL-3.0-or-later
// What the page does with a script: the timeline, the matrix, tables that sort and filter.
"use strict";
(() => {
	const root = document.documentElement;
	const byId = (id) => document.getElementById(id);
	const make = (name, parent, properties) => {
		const made = Object.assign(document.createElement(name), properties);
		if (parent) parent.append(made);
		return made;
	};
	const button = (parent, text, label, act) => {
		const made = make("button", parent, { type: "button", textContent: text, title: label, onclick: act });
		made.setAttribute("aria-label", label);
		return made;
	};

	// ---- numbers as people read them, with four digits that count
	const digits = (value) => {
		const size = Math.abs(value);
		return value.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : size === Math.round(size) ? 0 : 3);
	};
	const spanText = (ns) => {
		const size = Math.abs(ns);
		if (size >= 9.995e8) return digits(ns / 1e9) + "\u202fs";
		if (size >= 9.995e5) return digits(ns / 1e6) + "\u202fms";
		if (size >= 999.5) return digits(ns / 1e3) + "\u202f\u00b5s";
		return Math.round(ns) + "\u202fns";
	};
	const bytesText = (value) => {
		const names = ["B", "KiB", "MiB", "GiB", "TiB"];
		let i = 0;
		for (; Math.abs(value) >= 1024 && i < 4; i++) value /= 1024;
		return digits(value) + "\u202f" + names[i];
	};
	const valueText = (value, unit) =>
		unit === "%" ? value.toPrecision(3) + "\u202f%" : unit === "ns" ? "\u00b1\u202f" + spanText(value) :
		unit === "bytes" ? bytesText(value) : bytesText(value) + "/s";

	// ---- one tip for all pictures
	const tip = make("div", document.body, { id: "tip", hidden: true });
	const tell = (text, x, y) => {
		tip.hidden = !text;
		tip.textContent = text ?? "";
		const box = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
		tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
	};

	const colours = () => {
		const style = getComputedStyle(root);
		return (name) => style.getPropertyValue("--" + name).trim();
	};
	const redraws = [];
	const redraw = () => redraws.forEach((draw) => draw());
	const sized = (canvas, width, height) => {
		const scale = devicePixelRatio || 1;
		if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
			canvas.width = Math.round(width * scale);
			canvas.height = Math.round(height * scale);
			canvas.style.height = height + "px";
		}
		const context = canvas.getContext("2d");
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.clearRect(0, 0, width, height);
		return context;
	};
	const hatched = (context, colour) => {
		const tile = make("canvas", null, { width: 6, height: 6 });
		const pen = tile.getContext("2d");
		pen.strokeStyle = colour;
		pen.beginPath();
		for (const at of [-6, 0, 6]) {
			pen.moveTo(at, 6);
			pen.lineTo(at + 6, 0);
		}
		pen.stroke();
		return context.createPattern(tile, "repeat");
	};

	// ---- the cluster's timeline
	const timeline = (data, view) => {
		const states = ["runnable", "running", "sleeping", "sleeping, not interruptible", "blocked"];
		const waits = ["", "disk", "network", "timer", "interrupt", "thread"];
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
		const code = Object.fromEntries([...alphabet].map((letter, i) => [letter, i]));
		const unpack = (text) => Int16Array.from({ length: text.length / 2 }, (_, i) => {
			const value = code[text[2 * i]] * 64 + code[text[2 * i + 1]];
			return value > 4094 ? -1 : value;
		});
		const span = data.span, cellNs = data.cellNs;
		const gapsOf = (n, cpu) => data.gaps.filter((gap) => gap[0] === n && gap[1] === cpu).map((gap) => gap.slice(2));
		const nodeGaps = data.nodes.map((_, n) => gapsOf(n, -1));
		const lanes = data.lanes.map((lane) => ({ n: lane.n, c: lane.c, gaps: gapsOf(lane.n, lane.c),
			busy: unpack(lane.busy), irq: unpack(lane.irq), soft: unpack(lane.soft), who: unpack(lane.who), runs: [], irqs: [] }));
		const threads = data.threads.map(([n, tid, name, process, ran, first, last, strip]) =>
			({ n, tid, name, process, ran, first, last, strip: [...strip].map((letter) => Math.max(0, (code[letter] - 1) / 62) + (code[letter] ? 1e-3 : 0)), spans: [] }));
		const laneOf = new Map(lanes.map((lane, i) => [lane.n + " " + lane.c, i]));
		// What a window cuts has begun before it, or ends behind it.
		const cutAt = (window, from, to) => (from <= window.from ? 1 : 0) | (to >= window.to ? 2 : 0);
		for (const window of data.exact) {
			for (const list of window.states) {
				const thread = threads[list[0]];
				for (let i = 1, at = window.from; i < list.length; i += 5) {
					const from = at + list[i], to = from + list[i + 1];
					const item = { from, to, state: list[i + 2] % 8, wait: (list[i + 2] >> 3) % 8, cut: cutAt(window, from, to) | list[i + 2] >> 6, cpu: list[i + 3], other: list[i + 4], thread };
					at = to;
					thread.spans.push(item);
					const lane = item.state === 1 ? lanes[laneOf.get(thread.n + " " + item.cpu)] : null;
					if (lane && thread.tid) lane.runs.push(item);
				}
			}
			for (const list of window.irqs) {
				const [soft, number, name] = data.handlers[list[0]];
				for (let i = 2, at = window.from; i < list.length; i += 2) {
					const from = at + list[i], to = from + list[i + 1];
					at = to;
					lanes[list[1]].irqs.push({ from, to, cut: cutAt(window, from, to), soft, number, name });
				}
			}
		}
		for (const lane of lanes)
			for (const list of [lane.runs, lane.irqs]) list.sort((a, b) => a.from - b.from);
		for (const thread of threads) thread.spans.sort((a, b) => a.from - b.from);
		const laneAt = (n, cpu) => laneOf.get(n + " " + cpu) ?? lanes.findIndex((lane) => lane.n === n);
		const links = data.links.map(([id, from, fromCpu, to, toCpu, sent, came, low, high, bytes, sport, dport, protocol], i) =>
			({ id, a: laneAt(from, fromCpu), b: laneAt(to, toCpu), sent, came, low, high, bytes, sport, dport, protocol, slow: i < 12 }))
			.filter((link) => link.a >= 0 && link.b >= 0);
		// The clocks' bounds, and sar's samples, by the numbers that the queries give them.
		const curves = [["Bound of the clocks, \u00b1", "ns"], ["CPU busy (sar)", "%"], ["Memory in use (sar)", "bytes"],
			["Disks, read and written (sar)", "bytes/s"], ["Network, in and out (sar)", "bytes/s"]].flatMap(([title, unit], number) => {
			const rows = data.curves.filter((row) => row[0] === number), of = new Map();
			for (const [, n, from, to, value] of rows) {
				if (!of.has(n)) of.set(n, []);
				of.get(n).push(from, to, value);
			}
			return rows.length ? [{ title, unit, merged: rows[0][5], series: [...of] }] : [];
		});

		// Tasks, and periods of user space by thread, in rows in which they do not overlap.
		const stack = (items, most) => {
			const tracks = [];
			for (const item of items.sort((a, b) => a.from - b.from)) {
				let track = tracks.find((one) => one[one.length - 1].to <= item.from);
				if (!track && tracks.length < most) tracks.push(track = []);
				track?.push(item);
			}
			return tracks;
		};
		const tracksOf = data.nodes.map((_, n) => {
			const tasks = data.tasks.filter((row) => row[0] === n).map(([, from, to, name, status, pid]) => ({ from, to: to ?? span, kind: "task", name, cut: to === null ? 2 : 0,
				fields: [...pid >= 0 ? [["process", pid]] : [], ...status >= 0 ? [["exit status", status]] : []] }));
			const byTid = new Map();
			for (const [, tid, comm, from, to, first, last] of data.periods.filter((row) => row[0] === n)) {
				const list = byTid.get(tid) ?? byTid.set(tid, []).get(tid);
				list.push({ from, to, kind: "period", name: `${first} \u2192 ${last}`, cut: 0, fields: [["thread", `${comm} (${tid})`]], comm });
			}
			const threadsOf = [...byTid].sort((a, b) => b[1].length - a[1].length).slice(0, 8);
			return [...stack(tasks, 6).map((items, i) => ({ items, name: i ? "" : "tasks", sub: "" })),
				...threadsOf.flatMap(([tid, list]) => stack(list, 2).map((items, i) => ({ items, name: i ? "" : list[0].comm, sub: i || tid < 0 ? "" : String(tid) })))];
		});
		const densityOf = data.nodes.map((_, n) => {
			const cells = data.density.filter((row) => row[0] === n);
			return cells.length ? { cells: new Map(cells.map((row) => [row[1], row[2]])), step: cells[0][3], most: Math.max(...cells.map((row) => row[2])) } : null;
		});
		const hasProcessors = data.nodes.map((_, n) => lanes.some((lane) => lane.n === n && lane.busy.some((busy) => busy >= 0)));

		// Names that ran longest have a colour of their own.
		const ranBy = new Map();
		for (const thread of threads) ranBy.set(thread.name, (ranBy.get(thread.name) ?? 0) + thread.ran);
		const named = [...ranBy].sort((a, b) => b[1] - a[1]).slice(0, 8).map((pair) => pair[0]);
		const colourOfName = (name) => "k" + (named.includes(name) ? named.indexOf(name) : 8);

		let [t0, t1] = data.home, byThread = false, pinned = [], matches = null, cursor = null, picked = null;
		let hot = -1; // the node whose curves stand out
		const many = lanes.length > 48;
		const open = new Set(many ? [] : data.nodes.keys());

		// ---- what stands around the picture
		const bar = make("div", view, { className: "bar" });
		const search = make("input", bar, { type: "search", placeholder: "search a thread, process, node", id: "search" });
		search.setAttribute("aria-label", "search a thread, process or node");
		const range = make("output", bar, { id: "range" });
		button(bar, "\u2190", "earlier", () => pan(-0.5));
		button(bar, "\u2192", "later", () => pan(0.5));
		button(bar, "+", "zoom in", () => zoom(0.5));
		button(bar, "\u2212", "zoom out", () => zoom(2));
		button(bar, "home", "where all nodes were recorded", () => show(...data.home));
		button(bar, "all", "the whole run", () => show(0, span));
		const paint = button(bar, "by thread", "colour processors by thread or by state", () => {
			byThread = !byThread;
			paint.setAttribute("aria-pressed", byThread);
			draw();
		});
		paint.setAttribute("aria-pressed", false);
		const found = make("div", view, { id: "found", hidden: true });
		const legend = make("p", view, { className: "legend" });
		const canvas = make("canvas", view, { id: "picture", tabIndex: 0 });
		canvas.setAttribute("role", "img");
		canvas.setAttribute("aria-label", "processors of all nodes over time, with messages; keys: + and - zoom, arrows move, 0 is home");
		const panel = make("div", view, { id: "picked", hidden: true });
		panel.setAttribute("role", "status");
		make("p", view, { className: "note", textContent: "Drag to move, ctrl and the wheel (or pinch, or + and \u2212) to zoom, double-click to zoom in; click a span or a message for its fields" + (lanes.length > data.nodes.length ? ", a node's name to fold or unfold its processors." : ".") });

		// ---- rows from top to bottom
		let rows = [], rowOfLane = [], height = 0, width = 0, label = 0;
		const place = () => {
			rows = [];
			rowOfLane = [];
			let y = 30;
			const add = (row, h, gap) => {
				rows.push({ ...row, y, h });
				y += h + gap;
				return rows.length - 1;
			};
			const shownRows = data.nodes.reduce((sum, _, n) => sum + (open.has(n) ? lanes.filter((lane) => lane.n === n).length : 1), 0);
			const h = shownRows > 80 ? 9 : shownRows > 40 ? 12 : shownRows > 16 ? 17 : 24;
			data.nodes.forEach((name, n) => {
				const own = lanes.map((lane, i) => i).filter((i) => lanes[i].n === n);
				const more = [...densityOf[n] ? [{ density: densityOf[n], name: "events", sub: "" }] : [], ...tracksOf[n].map((track) => ({ track, name: track.name, sub: track.sub }))];
				const isLinked = links.some((link) => lanes[link.a].n === n || lanes[link.b].n === n);
				// Processors of which nothing was recorded have no rows where others tell of the node, or no node has any.
				const groups = !hasProcessors[n] && (more.length || (!isLinked && !hasProcessors.includes(true))) ? [] : open.has(n) ? own.map((i) => [i]) : [own];
				if (!groups.length && more.length) {
					more[0] = { ...more[0], name, sub: more[0].name };
					for (const lane of own) rowOfLane[lane] = rows.length;
				}
				groups.forEach((group, i) => {
					const row = add({ lanes: group, n, name: i ? "" : name, sub: groups.length > 1 ? String(lanes[group[0]].c) : "" }, h, i + 1 < groups.length ? 1 : h > 12 ? 8 : 3);
					for (const lane of group) rowOfLane[lane] = row;
				});
				more.forEach((row, i) => add({ ...row, n, lanes: null }, Math.max(h - 8, 10), i + 1 < more.length ? 2 : h > 12 ? 8 : 3));
				for (const thread of pinned)
					if (thread.n === n) add({ thread, n, name: thread.name, sub: String(thread.tid) }, Math.max(h - 6, 12), 6);
			});
			y += 22;
			for (const curve of curves) add({ curve, name: curve.title }, 60, 10);
			height = y + 4;
		};

		const x = (t) => label + (t - t0) / (t1 - t0) * (width - label);
		const timeAt = (px) => t0 + Math.min(1, Math.max(0, (px - label) / (width - label))) * (t1 - t0);
		const firstFrom = (list, t) => {
			let low = 0, high = list.length;
			while (low < high) {
				const middle = (low + high) >> 1;
				if (list[middle].to <= t) low = middle + 1; else high = middle;
			}
			return low;
		};
		const isExact = () => cellNs / (t1 - t0) * (width - label) > 2;
		const windowsShown = () => isExact() ? data.exact.filter((window) => window.to > t0 && window.from < t1) : [];

		// The mean of some lanes' cells from one instant to another; busy -1: not known.
		const sumOf = (group, from, to) => {
			const a = Math.max(0, Math.floor(from / cellNs)), b = Math.min(data.cells - 1, Math.max(Math.ceil(to / cellNs) - 1, a));
			const irq = [0, 0], soft = [0, 0], count = [0, 0]; // of cells that are not known and that are
			let busy = 0;
			const who = new Map();
			for (const i of group) {
				const lane = lanes[i];
				for (let k = a; k <= b; k++) {
					const isKnown = lane.busy[k] < 0 ? 0 : 1;
					count[isKnown]++;
					irq[isKnown] += lane.irq[k];
					soft[isKnown] += lane.soft[k];
					if (!isKnown) continue;
					busy += lane.busy[k];
					if (lane.who[k] >= 0) who.set(lane.who[k], (who.get(lane.who[k]) ?? 0) + lane.busy[k]);
				}
			}
			let most = -1, best = -1;
			for (const [index, sum] of who) if (sum > most) [best, most] = [index, sum];
			const which = count[1] ? 1 : 0, scale = 4000 * Math.max(1, count[which]);
			return { busy: which ? busy / scale : -1, irq: irq[which] / scale, soft: soft[which] / scale, who: best };
		};
		const dim = (thread) => matches !== null && !matches.has(thread);

		const drawCells = (pen, ink, row, from, to) => {
			const step = Math.max(1, cellNs / (t1 - t0) * (width - label));
			for (let px = Math.max(label, x(from)); px < x(to) - 1e-6; px += step) {
				const sum = sumOf(row.lanes, timeAt(px), Math.min(timeAt(px + step), to));
				const w = Math.min(step, x(to) - px) + 0.3;
				if (sum.busy > 0) {
					const h = Math.max(1, sum.busy * row.h);
					pen.globalAlpha = dim(threads[sum.who]) ? 0.18 : 1;
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
					pen.fillStyle = "#fff";
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
				if (sumOf(row.lanes, timeAt(px), timeAt(px + step)).busy < 0)
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
			thread.strip.forEach((share, i) => {
				const from = Math.max(t0, i * data.stripNs), to = Math.min(t1, (i + 1) * data.stripNs);
				if (!share || from >= to || shown.some((window) => window.from <= from && window.to >= to)) return;
				const h = Math.max(1.5, share * row.h);
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
			pen.globalAlpha = 0.75;
			pen.fillRect(label + 2, row.y + 1, pen.measureText(title).width + 8, 16);
			pen.globalAlpha = 1;
			pen.fillStyle = ink("fg");
			pen.fillText(title, label + 6, row.y + 13);
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
			const sub = row.sub && row.h >= 9 ? row.sub : "";
			const size = Math.min(12, row.h + 1);
			pen.font = `${row.thread ? "italic " : ""}${size}px system-ui, sans-serif`;
			const room = label - 10 - (sub ? pen.measureText(sub).width + 6 : 0);
			let name = row.name;
			while (name.length > 2 && pen.measureText(name).width > room) name = name.slice(0, -2) + "\u2026";
			pen.fillText(name, 0, row.y + row.h / 2 + size * 0.36);
			pen.fillStyle = ink("dim");
			if (sub) pen.fillText(sub, label - 6 - pen.measureText(sub).width, row.y + row.h / 2 + size * 0.36);
			pen.font = "12px system-ui, sans-serif";
		};

		let queued = false;
		const draw = () => {
			if (!queued) requestAnimationFrame(drawNow);
			queued = true;
		};
		const drawNow = () => {
			queued = false;
			label = view.clientWidth < 600 ? 62 : 116;
			width = Math.max(view.clientWidth, label + 40);
			place();
			const pen = sized(canvas, width, height), ink = colours(), pattern = hatched(pen, ink("hatch"));
			pen.font = "12px system-ui, sans-serif";
			drawAxis(pen, ink);
			drawMarks(pen, ink);
			for (const row of rows) {
				if (row.curve) drawCurve(pen, ink, pattern, row);
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
			range.textContent = `${(t0 / 1e9).toFixed(6).replace(/0{1,4}$/, "")} \u2013 ${(t1 / 1e9).toFixed(6).replace(/0{1,4}$/, "")}\u202fs (${spanText(t1 - t0)})`;
			root.dataset.from = Math.round(t0);
			root.dataset.to = Math.round(t1);
			root.dataset.exact = windowsShown().length;
			drawLegend();
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
			if (data.nodes.length <= 8 && curves.length && !byThread) data.nodes.forEach((name, i) => keys.push(["k" + i, "curve of " + name]));
			const text = JSON.stringify(keys);
			if (legend.dataset.keys === text) return;
			legend.dataset.keys = text;
			legend.replaceChildren();
			for (const [name, words] of keys) make("span", legend, { className: "key " + name, textContent: words });
		};

		// ---- moving about
		const show = (from, to) => {
			const least = Math.min(span, 200), w = Math.min(span, Math.max(to - from, least)), middle = (from + to) / 2;
			t0 = Math.min(Math.max(0, middle - w / 2), span - w);
			t1 = t0 + w;
			draw();
		};
		const zoom = (factor, around = (t0 + t1) / 2) => show(around - (around - t0) * factor, around + (t1 - around) * factor);
		const pan = (share) => {
			const by = Math.min(Math.max(share * (t1 - t0), -t0), span - t1);
			show(t0 + by, t1 + by);
		};
		const goTo = (at, took) => {
			const w = took ? took * 1.5 : Math.min(t1 - t0, span / 20);
			show(at + (took ?? 0) / 2 - w / 2, at + (took ?? 0) / 2 + w / 2);
			cursor = at;
		};

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

		// ---- search
		const pin = (thread, jump) => {
			if (!pinned.includes(thread)) pinned = [thread, ...pinned].slice(0, 6);
			if (jump) {
				const margin = Math.max((thread.last - thread.first) * 0.1, span / 1000);
				show(thread.first - margin, thread.last + margin);
			}
			draw();
		};
		const find = () => {
			const text = search.value.trim().toLowerCase();
			found.hidden = !text;
			found.replaceChildren();
			matches = null;
			hot = -1;
			if (text) {
				const list = threads.filter((thread) => thread.tid && (`${thread.name} ${thread.process} ${thread.tid}`).toLowerCase().includes(text));
				hot = data.nodes.findIndex((name) => name.toLowerCase() === text);
				const ofNode = threads.filter((thread) => thread.n === hot);
				matches = new Set(hot >= 0 ? ofNode : list);
				const shown = hot >= 0 ? ofNode : list;
				make("p", found, { textContent: `${shown.length} thread${shown.length === 1 ? "" : "s"}${shown.length > 12 ? ", those that ran longest:" : ""}` });
				for (const thread of shown.slice(0, 12))
					button(found, `${data.nodes[thread.n]} \u00b7 ${ofThread(thread)}, ran ${spanText(thread.ran)}`, `show ${thread.name} of ${data.nodes[thread.n]}`, () => pin(thread, true));
				root.dataset.matches = shown.length;
			}
			draw();
		};
		search.addEventListener("input", find);
		search.addEventListener("keydown", (event) => {
			if (event.key === "Enter") found.querySelector("button")?.click();
			if (event.key === "Escape") {
				search.value = "";
				pinned = [];
				find();
			}
		});

		// ---- pointers and keys
		const pointers = new Map();
		let moved = 0, pinch = null;
		const at = (event) => {
			const box = canvas.getBoundingClientRect();
			return [event.clientX - box.left, event.clientY - box.top];
		};
		canvas.addEventListener("pointerdown", (event) => {
			pointers.set(event.pointerId, at(event)[0]);
			moved = 0;
			canvas.setPointerCapture(event.pointerId);
			if (pointers.size === 2) pinch = { times: [...pointers.values()].map(timeAt) };
		});
		canvas.addEventListener("pointermove", (event) => {
			const [px, py] = at(event);
			if (pointers.has(event.pointerId)) {
				const by = px - pointers.get(event.pointerId);
				pointers.set(event.pointerId, px);
				moved += Math.abs(by);
				if (pinch && pointers.size === 2) {
					const [a, b] = [...pointers.values()].map((value) => (value - label) / (width - label)), [ta, tb] = pinch.times;
					if (Math.abs(b - a) > 0.02 && (tb - ta) / (b - a) > 0) {
						const w = (tb - ta) / (b - a);
						show(ta - a * w, ta + (1 - a) * w);
					}
				} else if (moved > 3) {
					tell("");
					pan(-by / (width - label));
				}
				return;
			}
			cursor = px < label ? null : timeAt(px);
			const row = rowAt(py), here = pickAt(px, py);
			if (row && !row.curve && data.nodes.length > 8) hot = row.n;
			tell(here ? here.fields.map(([name, value]) => `${name}: ${value}`).join("\n") : "", event.clientX, event.clientY);
			draw();
		});
		const up = (event) => {
			const was = pointers.delete(event.pointerId);
			if (pointers.size < 2) pinch = null;
			if (!was || moved > 3 || event.type !== "pointerup") return;
			const [px, py] = at(event);
			const row = rowAt(py);
			if (px < label && row?.thread) pinned = pinned.filter((thread) => thread !== row.thread);
			else if (px < label && row?.lanes && lanes.filter((lane) => lane.n === row.n).length > 1) open.has(row.n) ? open.delete(row.n) : open.add(row.n);
			else picked = pickAt(px, py);
			showPicked();
			draw();
		};
		canvas.addEventListener("pointerup", up);
		canvas.addEventListener("pointercancel", up);
		canvas.addEventListener("pointerleave", () => {
			cursor = null;
			tell("");
			draw();
		});
		canvas.addEventListener("dblclick", (event) => zoom(0.25, timeAt(at(event)[0])));
		canvas.addEventListener("wheel", (event) => {
			if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.0025), timeAt(at(event)[0]));
			else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1200);
			else return;
			event.preventDefault();
		}, { passive: false });
		const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "_": () => zoom(2), "0": () => show(...data.home),
			Home: () => show(0, t1 - t0), End: () => show(span - (t1 - t0), span), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
			Escape: () => {
				picked = null;
				showPicked();
				draw();
			} };
		canvas.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
			event.preventDefault();
			keys[event.key]();
		});
		addEventListener("keydown", (event) => {
			if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
			event.preventDefault();
			search.focus();
		});
		document.addEventListener("click", (event) => {
			const link = event.target.closest?.("a[data-t]");
			if (link) goTo(Number(link.dataset.t), link.dataset.d ? Number(link.dataset.d) : null);
		});
		redraws.push(draw);
		drawNow();
	};

	const roundText = (ns) => spanText(ns).replace(/\.0+(?=\u202f)/, "").replace(/(\.\d*[1-9])0+(?=\u202f)/, "$1");

	// ---- pictures of rows: names left, bars on one axis, sums right
	const lanesOf = (into, rows, ticks, height) => {
		const canvas = make("canvas", into);
		let left = 0, right = 0;
		canvas.setAttribute("role", "img");
		canvas.setAttribute("aria-label", into.closest("figure").querySelector("b").textContent);
		const draw = () => {
			const small = into.clientWidth < 620;
			left = small ? 84 : 150;
			right = small ? 78 : 150;
			const wide = Math.max(into.clientWidth, left + right + 40);
			const pen = sized(canvas, wide, rows.length * height + 18), ink = colours(), w = wide - left - right;
			const x = (part) => left + part * w;
			pen.font = `${small ? 11 : 13}px system-ui, sans-serif`;
			pen.textBaseline = "middle";
			const written = (text, at, y, room, colour) => {
				let cut = text;
				while (cut && pen.measureText(cut).width > room) cut = cut.slice(0, -2);
				pen.fillStyle = colour;
				pen.fillText(cut === text ? text : cut + "\u2026", at, y);
			};
			rows.forEach((row, i) => {
				const y = i * height, middle = y + height / 2 - 1;
				pen.fillStyle = ink("lane");
				pen.fillRect(left, y, w, height - 3);
				row.draw(pen, ink, x, y, height - 3, written);
				written(row.name, 0, middle, left - 18, ink("fg"));
				written(small ? row.value : row.value + "  " + row.more, left + w + 10, middle, right - 12, ink("fg"));
			});
			pen.fillStyle = pen.strokeStyle = ink("dim");
			pen.font = "11px system-ui, sans-serif";
			let free = -1e9;
			for (const [part, text] of ticks) {
				const half = pen.measureText(text).width / 2, at = Math.max(left + half, x(part));
				if (at - half < free || at + half > left + w + 20) continue;
				pen.fillRect(Math.round(x(part)), rows.length * height - 3, 1, 4);
				pen.fillText(text, at - half, rows.length * height + 9);
				free = at + half + 6;
			}
		};
		canvas.addEventListener("pointermove", (event) => {
			const box = canvas.getBoundingClientRect();
			const row = rows[Math.floor((event.clientY - box.top) / height)];
			const part = (event.clientX - box.left - left) / (box.width - left - right);
			tell(row && part >= 0 && part <= 1 ? row.tell(part) : "", event.clientX, event.clientY);
		});
		canvas.addEventListener("pointerleave", () => tell(""));
		redraws.push(draw);
		draw();
	};

	// ---- a request's critical path, a lane a node in the order in which it comes there
	const pathStates = ["running", "runnable", "disk", "network", "timer", "interrupt", "thread", "unknown", "resent"];
	const pathColours = ["run", "ready", "disk", "net", "timer", "irq", "thread", "unknown", "resent"];
	const path = (into, nodes) => {
		const data = JSON.parse(into.dataset.path);
		let at = 0;
		const parts = data.map(([n, state, took, tid, from, comm]) => {
			const name = from >= 0 ? "from " + nodes[from] : comm ?? pathStates[state];
			return { n, state, took, tid, from, comm, name, begin: at, end: at += took };
		});
		const rows = [...new Set(parts.map((part) => part.n))].map((n) => {
			const own = parts.filter((part) => part.n === n), sum = own.reduce((all, part) => all + part.took, 0);
			return { name: nodes[n], value: spanText(sum), more: (100 * sum / at).toPrecision(3) + "\u202f%",
				draw: (pen, ink, x, y, h, written) => {
					for (const part of own) {
						const from = x(part.begin / at), wide = x(part.end / at) - from;
						pen.fillStyle = ink(pathColours[part.state]);
						pen.fillRect(from, y, Math.max(0.5, wide), h);
						if (wide > 44) written(part.name, from + 4, y + h / 2 + 1, wide - 16, part.state === 1 ? "#1b1d1f" : "#fff");
					}
				},
				tell: (share) => {
					const part = own.find((one) => one.begin <= share * at && share * at < one.end);
					return part ? `${pathStates[part.state]}${part.tid > 0 ? `: ${part.comm} (${part.tid})` : ""}${part.from >= 0 ? `, message from ${nodes[part.from]}` : ""}\n${spanText(part.took)}` : "";
				} };
		});
		let step = 10 ** Math.floor(Math.log10(at / 5));
		step *= [1, 2, 5, 10].find((times) => at / (step * times) <= 6);
		lanesOf(into, rows, Array.from({ length: Math.floor(at / step) + 1 }, (_, i) => [i * step / at, i ? roundText(i * step) : "0"]), 22);
	};

	// ---- latencies of a few pairs: from the least to the greatest, on a logarithmic axis
	const latencies = (data, into) => {
		const low = Math.floor(Math.log10(Math.max(100, Math.min(...data.pairs.map((pair) => pair[3])))));
		const high = Math.max(low + 1, Math.ceil(Math.log10(1.0001 * Math.max(...data.pairs.map((pair) => pair[7])))));
		const part = (ns) => Math.min(1, Math.max(0, (Math.log10(Math.max(ns, 1)) - low) / (high - low)));
		const rows = data.pairs.map(([from, to, count, least, median, p95, p99, most, bound]) => {
			const sure = bound === null ? "no bound" : "\u00b1\u202f" + spanText(bound);
			return { name: `${data.nodes[from]} \u2192 ${data.nodes[to]}`, value: spanText(median), more: sure,
				draw: (pen, ink, x, y, h) => {
					pen.fillStyle = ink("dim");
					pen.fillRect(x(part(least)), y + h / 2, x(part(most)) - x(part(least)), 1);
					pen.fillStyle = ink("net");
					pen.globalAlpha = 0.45;
					pen.fillRect(x(part(p95)), y + 4, x(part(p99)) - x(part(p95)), h - 8);
					pen.globalAlpha = 1;
					pen.fillRect(x(part(least)), y + 4, x(part(p95)) - x(part(least)), h - 8);
					pen.fillStyle = ink("fg");
					pen.fillRect(x(part(median)), y + 2, 2, h - 4);
				},
				tell: () => `${data.nodes[from]} \u2192 ${data.nodes[to]}, ${count} messages\nleast ${spanText(least)}, median ${spanText(median)} ${sure}\n95\u202f% ${spanText(p95)}, 99\u202f% ${spanText(p99)}, most ${spanText(most)}` };
		});
		lanesOf(into, rows, Array.from({ length: high - low + 1 }, (_, i) => [i / (high - low), roundText(10 ** (low + i))]), 22);
	};

	// ---- the matrix of many pairs
	const matrix = (data, into) => {
		const canvas = make("canvas", into, { className: "matrix" });
		const pairs = new Map(data.pairs.map((pair) => [pair[0] * data.nodes.length + pair[1], pair]));
		const medians = data.pairs.map((pair) => Math.log(Math.max(1, pair[4])));
		const least = Math.min(...medians), most = Math.max(...medians, least + 1e-9);
		let size = 0, label = 0;
		const draw = () => {
			const n = data.nodes.length, wide = into.clientWidth;
			label = Math.min(110, wide / 5);
			size = Math.max(3, Math.min(22, Math.floor(900 / n), Math.floor((wide - label) / n)));
			const pen = sized(canvas, wide, label * 0.7 + n * size), ink = colours();
			pen.font = `${Math.min(12, Math.max(8, size))}px system-ui, sans-serif`;
			const every = Math.ceil(11 / size);
			pen.fillStyle = ink("dim");
			data.nodes.forEach((name, i) => {
				if (i % every) return;
				pen.fillText(name.slice(0, 16), 0, label * 0.7 + (i + 0.8) * size);
				pen.save();
				pen.translate(label + (i + 0.8) * size, label * 0.7 - 4);
				pen.rotate(-Math.PI / 3);
				pen.fillText(name.slice(0, 10), 0, 0);
				pen.restore();
			});
			for (const [from, to, , , median] of data.pairs) {
				pen.globalAlpha = 0.15 + 0.85 * (Math.log(Math.max(1, median)) - least) / (most - least);
				pen.fillStyle = ink("net");
				pen.fillRect(label + to * size, label * 0.7 + from * size, size - (size > 5 ? 1 : 0), size - (size > 5 ? 1 : 0));
			}
			pen.globalAlpha = 1;
			pen.strokeStyle = ink("line");
			pen.strokeRect(label - 0.5, label * 0.7 - 0.5, n * size + 1, n * size + 1);
		};
		canvas.addEventListener("pointermove", (event) => {
			const box = canvas.getBoundingClientRect();
			const to = Math.floor((event.clientX - box.left - label) / size), from = Math.floor((event.clientY - box.top - label * 0.7) / size);
			const pair = to >= 0 && from >= 0 && to < data.nodes.length ? pairs.get(from * data.nodes.length + to) : null;
			tell(pair ? `${data.nodes[from]} \u2192 ${data.nodes[to]}\nmedian ${spanText(pair[4])} ${pair[8] === null ? "no bound" : "\u00b1\u202f" + spanText(pair[8])}\nat most ${spanText(pair[7])}\n${pair[2]} messages` : "", event.clientX, event.clientY);
		});
		canvas.addEventListener("pointerleave", () => tell(""));
		redraws.push(draw);
		draw();
	};

	// ---- tables: columns sort by what the numbers are, not by how they are printed
	const sortBy = (head, index) => {
		const table = head.closest("table"), body = table.tBodies[0];
		const falling = head.getAttribute("aria-sort") !== "descending";
		const key = (row) => {
			const cell = row.cells[index];
			return cell.dataset.v !== undefined && cell.dataset.v !== "" ? Number(cell.dataset.v) : cell.textContent;
		};
		const compare = (a, b) =>
			typeof a === "number" && typeof b === "number" ? a - b :
			typeof a === typeof b ? a.localeCompare(b, "en", { numeric: true }) : typeof a === "number" ? 1 : -1;
		for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
		head.setAttribute("aria-sort", falling ? "descending" : "ascending");
		body.append(...[...body.rows].map((row) => [key(row), row]).sort((a, b) => (falling ? -1 : 1) * compare(a[0], b[0])).map((pair) => pair[1]));
	};
	const fade = (box) => {
		box.classList.toggle("more-left", box.scrollLeft > 2);
		box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
	};
	const prepare = (box) => {
		const table = box.querySelector("table"), rows = table.tBodies[0].rows;
		[...table.tHead.rows[0].cells].forEach((head, index) => {
			head.setAttribute("aria-sort", "none");
			head.tabIndex = 0;
			head.addEventListener("click", () => sortBy(head, index));
			head.addEventListener("keydown", (event) => {
				if (event.key !== "Enter" && event.key !== " ") return;
				event.preventDefault();
				sortBy(head, index);
			});
		});
		box.addEventListener("scroll", () => fade(box), { passive: true });
		redraws.push(() => fade(box));
		fade(box);
		if (rows.length < 8) return;
		const tools = make("div", null, { className: "tools" });
		box.before(tools);
		const filter = make("input", tools, { type: "search", placeholder: "filter rows" });
		filter.setAttribute("aria-label", "filter rows of " + box.getAttribute("aria-label"));
		const count = make("output", tools);
		filter.addEventListener("input", () => {
			const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
			let shown = 0;
			for (const row of rows) {
				const text = row.textContent.toLowerCase();
				row.hidden = !words.every((word) => text.includes(word));
				shown += !row.hidden;
			}
			table.classList.toggle("short", !words.length && !all);
			count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
			fade(box);
		});
		let all = !box.dataset.rows;
		if (all) return;
		table.classList.add("short");
		const more = button(tools, `show all ${rows.length} rows`, `show all rows of ${box.getAttribute("aria-label")}`, () => {
			all = !all;
			table.classList.toggle("short", !all);
			more.textContent = all ? "show fewer" : `show all ${rows.length} rows`;
		});
	};

	const preferred = matchMedia("(prefers-color-scheme: dark)");
	const night = [...document.styleSheets[0].cssRules].find((rule) => rule.media?.mediaText === preferred.media).media;
	button(byId("tools"), "\u25d0", "dark or light", () => {
		night.mediaText = night.mediaText === "all" || (night.mediaText === preferred.media && preferred.matches) ? "not all" : "all";
		redraw();
	});
	root.classList.add("js");
	const whole = JSON.parse(byId("data").textContent);
	if (whole.span) {
		timeline(whole, byId("view"));
		document.querySelectorAll("[data-path]").forEach((into) => path(into, whole.nodes));
	}
	if (byId("matrix")) {
		const { nodes, columns, rows, few } = JSON.parse(byId("matrix").dataset.pairs);
		const at = ["from", "to", "messages", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "bound_ns"].map((key) => columns.indexOf(key));
		const pairs = rows.map((row) => at.map((column, i) => i < 2 ? nodes.indexOf(row[column]) : row[column]));
		const caption = few ?
			[["b", "", "Latency by pair of nodes"], ["span", "key net", "least to 95\u202f%"], ["span", "key net light", "to 99\u202f%"],
				["span", "key whisker", "to the greatest"], ["span", "key median", "median"],
				["span", "", "logarithmic; right: median, and the clocks\u2019 bound on each latency"]] :
			[["b", "", "Median latency from node (row) to node (column)"],
				["span", "", "the darker, the longer, on a logarithmic scale; empty: no message"]];
		const head = byId("latency").firstElementChild;
		for (const [name, className, textContent] of caption) make(name, head, { className, textContent }).after(" ");
		(few ? latencies : matrix)({ nodes, pairs: pairs.filter(([from, to]) => from >= 0 && to >= 0) }, byId("matrix"));
	}
	document.querySelectorAll(".table").forEach(prepare);
	addEventListener("resize", redraw);
	preferred.addEventListener("change", redraw);
})();
