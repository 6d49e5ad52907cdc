// SPDX-License-Identifier: GPL-3.0-or-later
// One time axis for all pictures: t0 and t1 are what is shown of it, from 0 to 1.
"use strict";
(() => {
	const root = document.documentElement;
	const span = Number(document.body.dataset.span); // ns
	const charts = [...document.querySelectorAll("figure.chart")].filter((figure) => figure.querySelector("svg.t"));
	let t0 = 0, t1 = 1, cursor = null;

	const element = (name, parent, properties) => {
		const made = Object.assign(document.createElement(name), properties);
		if (parent) parent.append(made);
		return made;
	};
	const digits = (value, count) => String(Number(value.toPrecision(count)));
	const spanText = (ns) => {
		const size = Math.abs(ns);
		if (size >= 1e9) return digits(ns / 1e9, 6) + "\u202fs";
		if (size >= 1e6) return digits(ns / 1e6, 6) + "\u202fms";
		if (size >= 1e3) return digits(ns / 1e3, 6) + "\u202f\u00b5s";
		return digits(ns, 4) + "\u202fns";
	};
	const bytesText = (value) => {
		const names = ["B", "KiB", "MiB", "GiB", "TiB"];
		let i = 0;
		while (Math.abs(value) >= 1024 && i < 4) {
			value /= 1024;
			i++;
		}
		return digits(value, 4) + "\u202f" + names[i];
	};
	const valueText = (value, unit) =>
		value === undefined ? "not known" :
		unit === "%" ? digits(value, 4) + "\u202f%" :
		unit === "ns" ? spanText(value) :
		unit === "bytes" ? bytesText(value) : bytesText(value) + "/s";

	// Lines of the axis: at least five, at steps of 1, 2 or 5.
	const drawTicks = () => {
		const shown = (t1 - t0) * span;
		let step = 10 ** Math.floor(Math.log10(shown));
		while (shown / step < 5) step /= 10;
		if (shown / (step * 5) >= 5) step *= 5;
		else if (shown / (step * 2) >= 5) step *= 2;
		// Of labels that differ late, all digits are needed.
		const end = t1 * span;
		const [unit, scale] = end >= 2e9 && step >= 1e3 ? ["s", 1e9] : end >= 2e6 ? ["ms", 1e6] : ["\u00b5s", 1e3];
		const places = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
		for (const figure of charts) {
			const ticks = figure.querySelector(".ticks");
			const narrow = ticks.clientWidth < 420 ? 2 : 1;
			ticks.replaceChildren();
			let count = 0;
			for (let n = Math.ceil(t0 * span / step - 1e-9); n * step <= end * (1 + 1e-12); n++) {
				const line = element("i", ticks);
				line.style.left = ((n * step / span - t0) / (t1 - t0) * 100).toFixed(3) + "%";
				if (count++ % narrow === 0)
					element("b", line, { textContent: (n * step / scale).toFixed(places) + "\u202f" + unit });
			}
		}
	};

	let queued = false;
	const draw = () => {
		queued = false;
		for (const figure of charts)
			for (const svg of figure.querySelectorAll("svg.t")) {
				const box = svg.getAttribute("viewBox").split(" ");
				svg.setAttribute("viewBox", `${t0 * 1e6} 0 ${(t1 - t0) * 1e6} ${box[3]}`);
				svg.classList.toggle("near", t1 - t0 < 0.1);
			}
		drawTicks();
		range.textContent = `${spanText(t0 * span)} \u2013 ${spanText(t1 * span)}`;
		root.dataset.from = t0;
		root.dataset.to = t1;
		drawCursor();
	};
	const show = (from, to) => {
		const width = Math.min(1, Math.max(to - from, 1e-5, Math.min(1, 1000 / span)));
		const middle = (from + to) / 2;
		t0 = Math.min(Math.max(0, middle - width / 2), 1 - width);
		t1 = t0 + width;
		if (!queued) requestAnimationFrame(draw);
		queued = true;
	};
	const zoom = (factor, around = cursor !== null && cursor >= t0 && cursor <= t1 ? cursor : (t0 + t1) / 2) =>
		show(around - (around - t0) * factor, around + (t1 - around) * factor);
	const pan = (share) => {
		const by = Math.min(Math.max(share * (t1 - t0), -t0), 1 - t1);
		show(t0 + by, t1 + by);
	};

	// The cursor is one for all pictures.
	const tip = element("div", document.body, { id: "tip", hidden: true });
	tip.setAttribute("role", "status");
	for (const figure of charts) {
		const line = element("div", figure.querySelector(".rows"), { className: "cursor", hidden: true });
		line.setAttribute("aria-hidden", "true");
	}
	const drawCursor = () => {
		for (const figure of charts) {
			const rows = figure.querySelector(".rows"), line = rows.querySelector(".cursor");
			const svg = rows.querySelector("svg.t");
			line.hidden = cursor === null || cursor < t0 || cursor > t1;
			if (!line.hidden)
				line.style.left = svg.offsetLeft + svg.parentNode.clientLeft + svg.getBoundingClientRect().width * (cursor - t0) / (t1 - t0) + "px";
		}
	};
	const values = new WeakMap();
	const valuesOf = (svg, side) => {
		const known = values.get(svg) ?? {};
		values.set(svg, known);
		return known[side] ??= (svg.dataset[side] ?? "").split(",").map((text) => text === "" ? undefined : Number(text));
	};
	const rowText = (svg) => {
		const rows = svg.closest(".rows"), texts = [];
		for (const side of ["up", "down"]) {
			if (!rows.dataset[side] || !svg.dataset[side]) continue;
			const list = valuesOf(svg, side);
			const at = Math.min(list.length - 1, Math.floor(cursor * span / Number(document.body.dataset.bin)));
			texts.push(`${rows.dataset[side]}: ${valueText(list[at], rows.dataset.unit)}`);
		}
		return texts.join("\n");
	};
	const labelOf = (svg) => svg.previousElementSibling?.firstChild?.textContent ?? "";
	const tell = (text, x, y) => {
		tip.hidden = !text;
		tip.textContent = text;
		const box = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
		tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
	};
	const tellAt = (event) => {
		const svg = event.target.closest("svg.t");
		if (!svg) return;
		const at = spanText(cursor * span);
		if (svg.dataset.up !== undefined)
			return tell(`${labelOf(svg)}, ${at}\n${rowText(svg)}`, event.clientX, event.clientY);
		const path = event.target.closest("path[data-n]"), title = event.target.querySelector?.("title");
		tell(at + (path ? `\n${path.dataset.l}: ${path.dataset.n}` : title && event.target.dataset.m ? `\n${title.textContent}` : ""), event.clientX, event.clientY);
	};
	const timeAt = (svg, x) => {
		const box = svg.getBoundingClientRect();
		return t0 + (t1 - t0) * Math.min(1, Math.max(0, (x - box.left) / box.width));
	};

	let drag = null;
	for (const figure of charts) {
		const rows = figure.querySelector(".rows");
		rows.addEventListener("pointerdown", (event) => {
			const svg = event.target.closest("svg.t");
			if (!svg || event.button !== 0 || event.pointerType === "touch") return;
			drag = { svg, from: timeAt(svg, event.clientX), x: event.clientX, pick: element("div", rows, { className: "pick" }) };
			drag.pick.style.width = "0";
			event.preventDefault();
			figure.focus({ preventScroll: true });
		});
		rows.addEventListener("pointermove", (event) => {
			const svg = event.target.closest("svg.t");
			if (!svg || drag) return;
			cursor = timeAt(svg, event.clientX);
			drawCursor();
			tellAt(event);
		});
		rows.addEventListener("pointerleave", () => {
			cursor = null;
			drawCursor();
			tip.hidden = true;
		});
		rows.addEventListener("dblclick", () => show(0, 1));
		rows.addEventListener("wheel", (event) => {
			const svg = event.target.closest("svg.t");
			if (!svg || !(event.ctrlKey || event.shiftKey)) return;
			event.preventDefault();
			if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(svg, event.clientX));
			else pan((event.deltaY || event.deltaX) > 0 ? 0.1 : -0.1);
		}, { passive: false });
	}
	addEventListener("pointermove", (event) => {
		if (!drag) return;
		const box = drag.svg.getBoundingClientRect(), rows = drag.svg.closest(".rows").getBoundingClientRect();
		const left = Math.max(box.left, Math.min(drag.x, event.clientX)), right = Math.min(box.right, Math.max(drag.x, event.clientX));
		drag.pick.style.left = left - rows.left + "px";
		drag.pick.style.width = Math.max(0, right - left) + "px";
	});
	const endDrag = (event) => {
		if (!drag) return;
		const to = timeAt(drag.svg, event.clientX), from = drag.from;
		const far = Math.abs(event.clientX - drag.x) > 4;
		drag.pick.remove();
		drag = null;
		if (far && event.type === "pointerup") show(Math.min(from, to), Math.max(from, to));
	};
	addEventListener("pointerup", endDrag);
	addEventListener("pointercancel", endDrag);

	// Keys work where a picture has the focus.
	const moveCursor = (figure, by) => {
		cursor = Math.min(t1, Math.max(t0, (cursor ?? (t0 + t1) / 2) + by * (t1 - t0) / 100));
		drawCursor();
		const svgs = [...figure.querySelectorAll("svg.t[data-up]")], box = figure.querySelector(".cursor").getBoundingClientRect();
		const lines = svgs.slice(0, 16).map((svg) => `${labelOf(svg)} ${rowText(svg).replaceAll("\n", ", ")}`);
		tell([spanText(cursor * span), ...lines].join("\n"), box.left, Math.min(innerHeight / 2, Math.max(40, box.top)));
	};
	const keys = {
		"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "_": () => zoom(2),
		"0": () => show(0, 1), Home: () => pan(-1e9), End: () => pan(1e9),
		ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
		",": (figure) => moveCursor(figure, -1), ".": (figure) => moveCursor(figure, 1),
		Escape: () => {
			cursor = null;
			drawCursor();
			tip.hidden = true;
		},
	};
	addEventListener("keydown", (event) => {
		const figure = event.target.closest?.("figure.chart");
		if (!figure || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
		event.preventDefault();
		keys[event.key](figure);
	});

	// Buttons for the same, and for the colours.
	const tools = document.getElementById("tools");
	const range = element("output", tools);
	const button = (text, label, act) =>
		element("button", tools, { type: "button", textContent: text, title: label, onclick: act }).setAttribute("aria-label", label);
	if (charts.length) {
		button("\u2190", "earlier", () => pan(-0.5));
		button("\u2192", "later", () => pan(0.5));
		button("+", "zoom in", () => zoom(0.5));
		button("\u2212", "zoom out", () => zoom(2));
		button("all", "the whole run", () => show(0, 1));
	}
	button("\u25d0", "dark or light", () => {
		const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		root.dataset.theme = dark ? "light" : "dark";
	});
	tools.hidden = false;
	root.classList.add("js");
	if (charts.length) {
		const help = element("p", null, { className: "note", textContent:
			"Drag over a picture to zoom into a span of time, in all pictures at once; double-click for the whole run; ctrl and the wheel zoom, shift and the wheel move. Keys, on a picture: + \u2212 0 \u2190 \u2192, and , . move the cursor and tell values." });
		document.querySelector("nav").after(help);
	}

	// Columns sort by what the numbers are, not by how they are printed.
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
		for (const other of table.tHead.rows[0].cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
		head.setAttribute("aria-sort", falling ? "descending" : "ascending");
		body.append(...[...body.rows].map((row) => [key(row), row]).sort((a, b) => (falling ? -1 : 1) * compare(a[0], b[0])).map((pair) => pair[1]));
	};
	for (const table of document.querySelectorAll("table:not(.matrix)"))
		[...table.tHead.rows[0].cells].forEach((head, index) => {
			head.setAttribute("aria-sort", "none");
			head.tabIndex = 0;
			head.addEventListener("click", () => sortBy(head, index));
			head.addEventListener("keydown", (event) => {
				if (event.key === "Enter" || event.key === " ") {
					event.preventDefault();
					sortBy(head, index);
				}
			});
		});

	let opened = [];
	addEventListener("beforeprint", () => {
		opened = [...document.querySelectorAll("details:not([open])")];
		for (const details of opened) details.open = true;
	});
	addEventListener("afterprint", () => {
		for (const details of opened) details.open = false;
	});
	addEventListener("resize", () => show(t0, t1));
	if (charts.length) draw();
	else range.hidden = true;
})();
