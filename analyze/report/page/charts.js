// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures other than the timeline: critical paths, latencies of pairs, the matrix of many pairs.
// ---- pictures of rows: names left, bars on one axis, sums right
// The drawing of each element. A window draws into it again.
const drawings = new Map();
redraws.push(() => drawings.forEach((draw) => draw()));
const lanesOf = (into, rows, ticks, height) => {
	into.replaceChildren();
	const canvas = make("canvas", into);
	let left = 0, right = 0;
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", into.closest("figure").querySelector("b").textContent);
	const draw = () => {
		const small = into.clientWidth < 620;
		const font = `${small ? 11 : 13}px system-ui, sans-serif`, probe = canvas.getContext("2d");
		const ends = rows.map((row) => small ? row.value : row.value + "  " + row.more);
		probe.font = font;
		// On a small page as wide as the longest name, but at most a third of the picture.
		left = small ? Math.max(84, Math.min(into.clientWidth / 3, 18 + Math.max(...rows.map((row) => probe.measureText(row.name).width)))) : 150;
		right = Math.max(small ? 78 : 150, 24 + Math.max(...ends.map((text) => probe.measureText(text).width)));
		const wide = Math.max(into.clientWidth, left + right + 40);
		const pen = sized(canvas, wide, rows.length * height + 18), ink = colours(), w = wide - left - right;
		const x = (part) => left + part * w;
		pen.font = font;
		pen.textBaseline = "middle";
		const written = (text, at, y, room, colour) => {
			pen.fillStyle = colour;
			pen.fillText(shortened(pen, text, room), at, y);
		};
		rows.forEach((row, i) => {
			const y = i * height, middle = y + height / 2 - 1;
			pen.fillStyle = ink("lane");
			pen.fillRect(left, y, w, height - 3);
			row.draw(pen, ink, x, y, height - 3, written);
			written(row.name, 0, middle, left - 18, ink("fg"));
			written(ends[i], left + w + 10, middle, right - 12, ink("fg"));
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
	drawings.set(into, draw);
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
					if (wide > 44) written(part.name, from + 4, y + h / 2 + 1, wide - 16, part.state === 1 ? "#1b1d1f" : ink("bg"));
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
	into.replaceChildren();
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
			pen.fillText(shortened(pen, name, label - 6), 0, label * 0.7 + (i + 0.8) * size);
			pen.save();
			pen.translate(label + (i + 0.8) * size, label * 0.7 - 4);
			pen.rotate(-Math.PI / 3);
			pen.fillText(shortened(pen, name, label * 0.7), 0, 0);
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
	drawings.set(into, draw);
	draw();
};
