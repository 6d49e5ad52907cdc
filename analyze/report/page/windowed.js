// SPDX-License-Identifier: GPL-3.0-or-later
// Tables that follow the window: their rows are summed up anew from the steps.
const nodeName = (n) => data.nodes[n] ?? "?";
const inText = { ns: spanText, bytes: bytesText, "%": (value) => value.toPrecision(3) + "\u202f%", count: (value) => String(Math.round(value)) };
const duration = (row, from, to) => {
	const count = row.count.sum(from, to), took = row.took.sum(from, to);
	return [count, took / count, row.quantile(from, to, 0.5), row.quantile(from, to, 0.95), row.quantile(from, to, 0.99), row.longest.most(from, to), took];
};
const durationColumns = [["COUNT", "count"], ["MEAN", "ns"], ["MEDIAN", "ns"], ["95 %", "ns"], ["99 %", "ns"], ["MAX", "ns"]];
const requestKey = (row) => [nodeName(row.key[0]), nodeName(row.key[1]), row.key[2]];
const requestColumns = [["CLIENT", ""], ["SERVER", ""], ["PORT", ""]];
// Per table its columns, what they are of, and its rows: [sort by, cells].
const windowed = {
	processors: { columns: [["NODE", ""], ["CPU", ""], ["RECORDED", "ns"], ["BUSY", "ns"], ["SHARE", "%"], ["INTERRUPTS", "%"], ["SOFTIRQS", "%"]],
		rows: (from, to) => lanes.filter((lane) => lane.c >= 0).flatMap((lane, i) => {
			const [known, busy, irq, soft] = ["known", "busy", "irq", "soft"].map((name) => laneSum([lane], name, from, to) * cellNs / (name === "known" ? 1 : 4000));
			return known ? [[-i, [nodeName(lane.n), lane.c, Math.min(known, to * stepNs - from * stepNs), busy, busy / known * 100, irq / known * 100, soft / known * 100]]] : [];
		}) },
	threads: { most: 60, columns: [["THREAD", ""], ["NODE", ""], ["TID", ""], ["PROCESS", ""], ["CPU TIME", "ns"], ["WAITS FOR A CPU", "count"], ["IN ALL", "ns"], ["LONGEST", "ns"]],
		rows: (from, to) => threads.flatMap((thread) => {
			const ran = thread.run.sum(from, to);
			return ran ? [[ran, [thread.name, nodeName(thread.n), thread.tid, thread.process, ran, ...thread.waitCount.isKnown ? [thread.waitCount.sum(from, to), thread.waitSum.sum(from, to), thread.waitMost.most(from, to)] : [null, null, null]]]] : [];
		}) },
	totals: { most: 40, columns: [...requestColumns, ...durationColumns], rows: (from, to) => requests.map((row) => [row.count.sum(from, to), [...requestKey(row), ...duration(row, from, to)]]) },
	parts: { most: 40, columns: [...requestColumns, ["COUNT", "count"], ["TOTAL", "ns"], ...["RESENT", "THERE", "QUEUE", "RUNNING", "RUNNABLE", "DISK", "NODE", "OTHER", "UNKNOWN", "BACK"].map((name) => [name, "ns"])],
		rows: (from, to) => requests.map((row) => {
			const count = row.count.sum(from, to);
			return [count, [...requestKey(row), count, row.took.sum(from, to) / count, ...row.sums.map((sum) => sum.sum(from, to) / count)]];
		}) },
	pairs: { most: 200, columns: [["FROM", ""], ["TO", ""], ["MESSAGES", "count"], ...durationColumns.slice(1), ["BYTES", "bytes"], ["NEGATIVE", "count"]],
		rows: (from, to) => pairs.map((row) => [row.count.sum(from, to), [nodeName(row.key[0]), nodeName(row.key[1]), ...duration(row, from, to).slice(0, 6), row.sums[0].sum(from, to), row.sums[1].sum(from, to)]]) },
	disks: { most: 60, columns: [["NODE", ""], ["DISK", ""], ["OPERATION", ""], ...durationColumns, ["SUM", "ns"], ["BYTES", "bytes"]],
		rows: (from, to) => disks.map((row) => [row.count.sum(from, to), [nodeName(row.key[0]), row.key[1], row.key[2], ...duration(row, from, to), row.sums[0].sum(from, to)]]) },
	interrupts: { most: 60, note: data.bins.interruptsLeft ? "of the handlers that took longest" : "",
		columns: [["HANDLER", ""], ["NODE", ""], ["KIND", ""], ["NUMBER", ""], ["COUNT", "count"], ["SUM", "ns"], ["MEAN", "ns"], ["MAX", "ns"]],
		rows: (from, to) => interrupts.map(({ n, soft, number, name, count, took, longest }) => {
			const sum = took.sum(from, to), all = count.sum(from, to);
			return [all && sum, [name || "-", nodeName(n), soft ? "soft" : "hard", number, all, sum, sum / all, longest.most(from, to)]];
		}) },
	syscalls: { most: 60, columns: [["SYSCALL", ""], ["COUNT", "count"], ["MEAN", "ns"], ["MAX", "ns"], ["SUM", "ns"], ["ERRORS", "count"]],
		rows: (from, to) => syscalls.map((row) => {
			const [count, mean, , , , max, sum] = duration(row, from, to);
			return [count && sum, [row.key[0], count, mean, max, sum, row.sums[0].sum(from, to)]];
		}) },
};
windowed.slow_pairs = windowed.pairs;

const windowTable = (box, from, to) => {
	const own = box.querySelector("table"), { columns, rows, note, most: limit = 200 } = windowed[own.dataset.table];
	const all = rows(from, to).filter((row) => row[0] || own.dataset.table === "processors").sort((a, b) => b[0] - a[0]);
	const made = make("table", null, { className: "of-window" });
	made.dataset.table = own.dataset.table;
	const caption = make("caption", made, { textContent: own.caption.firstChild.textContent + " " });
	make("small", caption, { textContent: `in the window${note ? `, ${note}` : ""}${all.length > limit ? `, ${limit} of ${all.length} rows` : all.length ? "" : ": nothing"}` });
	const head = make("tr", make("thead", made));
	for (const [title, unit] of columns) make("th", head, { textContent: title, className: unit ? "n" : "", scope: "col" });
	const body = make("tbody", made);
	for (const [, cells] of all.slice(0, limit)) {
		const row = make("tr", body);
		cells.slice(0, columns.length).forEach((value, i) => {
			const unit = columns[i][1], cell = make(i ? "td" : "th", row, { className: unit ? "n" : "", textContent: value === null || Number.isNaN(value) ? "-" : unit ? inText[unit](value) : value });
			if (unit && value !== null) cell.dataset.v = value;
		});
	}
	return made;
};
// Other tables are of the whole page, and say so; of the slowest ones those in the window are shown.
const followWindow = (from, to) => {
	for (const box of document.querySelectorAll(".table")) {
		const own = box.querySelector("table:not(.of-window)"), links = [...own.querySelectorAll("a[data-t]")];
		box.querySelector(".of-window")?.remove();
		own.hidden = false;
		own.caption.querySelector(".whole")?.remove();
		for (const link of links) link.closest("tr").hidden = !!selected && (link.dataset.t < from * stepNs || link.dataset.t >= to * stepNs);
		if (!selected) continue;
		if (windowed[own.dataset.table] && !box.closest("#clocks, #nodes")) {
			const made = windowTable(box, from, to);
			own.hidden = true;
			box.append(made);
			sortable(made);
		} else make("small", own.caption, { className: "whole", textContent: links.length ? "those of the whole page that lie in the window" : "of the whole page" });
	}
};
followers.push(followWindow);
