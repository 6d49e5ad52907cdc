// SPDX-License-Identifier: GPL-3.0-or-later
// Tables that follow the window: their rows are summed up anew from the steps.
const nodeName = (n) => data.nodes[n] ?? "?";
const leftNote = (name) => data.bins[name].left ? `without ${data.bins[name].left} rows with less` : "";
const inText = { ns: spanText, bytes: bytesText, "bytes/s": (value) => bytesText(value) + "/s", "%": (value) => value.toPrecision(3) + "\u202f%",
	count: (value) => String(Math.round(value)), bound: (value) => "\u00b1\u202f" + spanText(value) };
const duration = (row, from, to) => {
	const count = row.count.sum(from, to), took = row.took.sum(from, to);
	return [count, took / count, row.quantile(from, to, 0.5), row.quantile(from, to, 0.95), row.quantile(from, to, 0.99), row.longest.most(from, to), took];
};
const durationColumns = [["COUNT", "count"], ["MEAN", "ns"], ["MEDIAN", "ns"], ["95 %", "ns"], ["99 %", "ns"], ["MAX", "ns"]];
const requestKey = (row) => [nodeName(row.key[0]), nodeName(row.key[1]), row.key[2]];
const requestColumns = [["CLIENT", ""], ["SERVER", ""], ["PORT", ""]];
const quantileOfList = (list, share) => {
	const rank = share * (list.length - 1), low = Math.floor(rank);
	return list.length ? list[low] + (list[Math.ceil(rank)] - list[low]) * (rank - low) : null;
};
const sumOfBins = (rows, name, from, to) => rows.reduce((all, row) => all + row[name].sum(from, to), 0);
const matrixOf = byId("matrix") ? JSON.parse(byId("matrix").dataset.pairs) : { columns: [], rows: [] };
const boundOfPair = new Map(matrixOf.rows.map((row) => ["from", "to"].map((key) => row[matrixOf.columns.indexOf(key)]).join("\n"))
	.map((key, i) => [key, matrixOf.rows[i][matrixOf.columns.indexOf("bound_ns")]]));
const boundOf = (from, to) => boundOfPair.get(`${from}\n${to}`) ?? null;
// sar's memory of a node by the name of the metric, in the units of the table.
const ofMemory = (n, name, read) => {
	const row = memory.find((one) => one.key[0] === n && one.key[1] === name);
	return row ? read(row) : null;
};
const sampleNear = (row, from, to, by) => {
	for (let step = by > 0 ? from : to - 1; step >= from && step < to; step += by) {
		const count = row.count.sum(step, step + 1);
		if (count) return row.took.sum(step, step + 1) / count;
	}
	return null;
};
// A followed request. Its cells are made when they are shown: there may be thousands of rows.
const slowestRow = (one, group) => ({ 0: followed.total[one], get 1() {
	const { begin, number, part, kind, took, total } = followed;
	let longest = part[one];
	for (let p = longest + 1; p < part[one + 1]; p++) if (took[p] > took[longest]) longest = p;
	return [[begin[one], total[one]], number[one], ...group.key, total[one], partText(kinds[kind[longest]]), took[longest]];
} });
// By section and table: columns, rows as [sort by, cells], and what limits them.
const windowed = {
	"resources processors": { columns: [["NODE", ""], ["CPU", ""], ["RECORDED", "ns"], ["BUSY", "ns"], ["SHARE", "%"], ["INTERRUPTS", "%"], ["SOFTIRQS", "%"]],
		rows: (from, to) => lanes.filter((lane) => lane.c >= 0).flatMap((lane, i) => {
			const [known, busy, irq, soft] = ["known", "busy", "irq", "soft"].map((name) => laneSum([lane], name, from, to) * cellNs / (name === "known" ? 1 : 4000));
			return known ? [[-i, [nodeName(lane.n), lane.c, Math.min(known, to * stepNs - from * stepNs), busy, busy / known * 100, irq / known * 100, soft / known * 100]]] : [];
		}) },
	"resources threads": { most: 60, columns: [["THREAD", ""], ["NODE", ""], ["TID", ""], ["PROCESS", ""], ["CPU TIME", "ns"], ["WAITS FOR A CPU", "count"], ["IN ALL", "ns"], ["LONGEST", "ns"]],
		rows: (from, to) => threads.flatMap((thread) => {
			const ran = thread.run.sum(from, to);
			return ran ? [[ran, [thread.name, nodeName(thread.n), thread.tid, thread.process, ran, ...thread.waitCount.isKnown ? [thread.waitCount.sum(from, to), thread.waitSum.sum(from, to), thread.waitMost.most(from, to)] : [null, null, null]]]] : [];
		}) },
	"requests totals": { most: 40, columns: [...requestColumns, ...durationColumns], rows: (from, to) => requests.map((row) => [row.count.sum(from, to), [...requestKey(row), ...duration(row, from, to)]]) },
	"requests parts": { most: 40, columns: [...requestColumns, ["COUNT", "count"], ["TOTAL", "ns"], ...["RESENT", "THERE", "QUEUE", "RUNNING", "RUNNABLE", "DISK", "NODE", "OTHER", "UNKNOWN", "BACK"].map((name) => [name, "ns"])],
		rows: (from, to) => requests.map((row) => {
			const count = row.count.sum(from, to), means = row.sums.map((sum) => sum.sum(from, to) / count);
			// The third to the eighth are those at the server. If its threads were not recorded, all is in the ninth.
			const isRecorded = !means[8] || means.slice(2, 8).some((mean) => mean);
			return [count, [...requestKey(row), count, row.took.sum(from, to) / count, ...means.map((mean, i) => isRecorded || i < 2 || i > 7 ? mean : null)]];
		}) },
	"messages pairs": { most: 200, columns: [["FROM", ""], ["TO", ""], ["MESSAGES", "count"], ...durationColumns.slice(1), ["BYTES", "bytes"], ["BOUND", "bound"], ["NEGATIVE", "count"]],
		rows: (from, to) => pairs.map((row) => [row.count.sum(from, to), [nodeName(row.key[0]), nodeName(row.key[1]), ...duration(row, from, to).slice(0, 6), row.sums[0].sum(from, to), boundOf(nodeName(row.key[0]), nodeName(row.key[1])), row.sums[1].sum(from, to)]]) },
	"resources disks": { most: 60, columns: [["NODE", ""], ["DISK", ""], ["OPERATION", ""], ...durationColumns, ["SUM", "ns"], ["BYTES", "bytes"]],
		rows: (from, to) => disks.map((row) => [row.count.sum(from, to), [nodeName(row.key[0]), row.key[1], row.key[2], ...duration(row, from, to), row.sums[0].sum(from, to)]]) },
	"resources interrupts": { most: 60, note: leftNote("interrupts"),
		columns: [["HANDLER", ""], ["NODE", ""], ["KIND", ""], ["NUMBER", ""], ["COUNT", "count"], ["SUM", "ns"], ["MEAN", "ns"], ["MAX", "ns"]],
		rows: (from, to) => interrupts.map((row) => {
			const [count, mean, , , , max, sum] = duration(row, from, to), [n, soft, number, name] = row.key;
			return [count && sum, [name || "-", nodeName(n), soft ? "soft" : "hard", number, count, sum, mean, max]];
		}) },
	"resources syscalls": { most: 60, note: leftNote("syscalls"), columns: [["SYSCALL", ""], ["COUNT", "count"], ["MEAN", "ns"], ["MAX", "ns"], ["SUM", "ns"], ["ERRORS", "count"]],
		rows: (from, to) => syscalls.map((row) => {
			const [count, mean, , , , max, sum] = duration(row, from, to);
			return [count && sum, [row.key[0], count, mean, max, sum, row.sums[0].sum(from, to)]];
		}) },
	"resources requests": { most: 40, note: leftNote("origins"), columns: [["NODE", ""], ["PID", ""], ["PROCESS", ""], ["OPERATION", ""], ["COUNT", "count"], ["MEAN", "ns"], ["MAX", "ns"], ["SUM", "ns"], ["BYTES", "bytes"], ["ERRORS", "count"]],
		rows: (from, to) => origins.map((row) => {
			const [count, mean, , , , max, sum] = duration(row, from, to), [bytes, errors] = row.sums.map((one) => one.sum(from, to));
			return [count && bytes + 1, [nodeName(row.key[0]), ...row.key.slice(1), count, mean, max, sum, bytes, errors]];
		}) },
	"resources interfaces": { note: leftNote("interfaces"), columns: [["NODE", ""], ["INTERFACE", ""], ...["SENT", "RECEIVED"].flatMap((name) => [[name, "count"], ["BYTES", "bytes"], ["RATE", "bytes/s"]])],
		rows: (from, to) => interfaces.map((row, i) => {
			const [sent, out, received, into] = row.sums.map((one) => one.sum(from, to)), rate = (bytes) => bytes * 1e9 / (Math.min(span, to * stepNs) - from * stepNs);
			return [sent + received && 1e9 - i, [...row.key, sent, out, rate(out), received, into, rate(into)]];
		}) },
	"resources nodes": { columns: [["NODE", ""], ["USED", "bytes"], ["MAX", "bytes"], ["MAX", "%"], ["AVAILABLE", "bytes"], ["SWAP MAX", "bytes"], ["IN", "bytes"], ["OUT", "bytes"], ["MAJOR FAULTS", "count"]],
		rows: (from, to) => data.nodes.map((name, n) => {
			const most = (metric, unit = 1) => ofMemory(n, metric, (row) => row.count.sum(from, to) ? row.longest.most(from, to) / unit : null);
			const sum = (metric, unit = 1) => ofMemory(n, metric, (row) => row.count.sum(from, to) ? row.took.sum(from, to) / unit : null);
			const cells = [ofMemory(n, "kbmemused", (row) => row.count.sum(from, to) ? row.took.sum(from, to) / row.count.sum(from, to) : null), most("kbmemused"), most("%memused", 1000),
				ofMemory(n, "kbavail", (row) => row.count.sum(from, to) ? row.key[2] - row.longest.most(from, to) : null), most("kbswpused"), sum("pswpin/s"), sum("pswpout/s"), sum("majflt/s", 1000)];
			return [cells.some((cell) => cell !== null) && data.nodes.length - n, [name, ...cells]];
		}) },
	"resources processes": { most: 40, note: leftNote("resident"), columns: [["NODE", ""], ["PROCESS", ""], ["FIRST", "bytes"], ["MAX", "bytes"], ["LAST", "bytes"], ["SAMPLES", "count"]],
		rows: (from, to) => resident.map((row) => {
			const max = row.longest.most(from, to);
			return [row.count.sum(from, to) && max + 1, [nodeName(row.key[0]), row.key[1], sampleNear(row, from, to, 1), max, sampleNear(row, from, to, -1), row.count.sum(from, to)]];
		}) },
	"user tasks": { note: data.tasks.length === 4000 ? "of the first 4000" : "", columns: [["TASK", ""], ["COUNT", "count"], ["ENDED", "count"], ["FAILED", "count"], ["MIN", "ns"], ...durationColumns.slice(1), ["SUM", "ns"]],
		rows: (from, to) => {
			const byName = Map.groupBy(data.tasks.filter((task) => task[1] < to * stepNs && (task[2] ?? span) >= from * stepNs), (task) => task[3]);
			return [...byName].map(([name, list]) => {
				const took = list.filter((task) => task[2] !== null).map((task) => task[2] - task[1]).sort((a, b) => a - b), sum = took.reduce((all, one) => all + one, 0);
				return [sum + 1, [name, list.length, took.length, list.filter((task) => task[4] > 0).length, took[0] ?? null, took.length ? sum / took.length : null, ...[0.5, 0.95, 0.99, 1].map((share) => quantileOfList(took, share)), sum]];
			});
		} },
	"user periods": { note: leftNote("periods"), columns: [["FROM", ""], ["TO", ""], ["COUNT", "count"], ["MEAN", "ns"], ["MAX", "ns"], ["SUM", "ns"]],
		rows: (from, to) => periods.map((row) => {
			const [count, mean, , , , max, sum] = duration(row, from, to);
			return [count && sum + 1, [...row.key, count, mean, max, sum]];
		}) },
	"messages slowest": { most: 10, note: data.messageSum[0]?.[1] ? "of the messages that are drawn" : "", columns: [["SENT", "time"], ["FROM", ""], ["TO", ""], ["PROTOCOL", ""], ["PORT", ""], ["BYTES", "bytes"], ["LATENCY", "ns"], ["AT LEAST", "ns"], ["AT MOST", "ns"], ["MESSAGE", ""]],
		rows: (from, to) => links.filter((link) => link.sent >= from * stepNs && link.sent < to * stepNs).map((link) => {
			const took = link.came - link.sent;
			return [took, [[link.sent, took], nodeName(lanes[link.a].n), nodeName(lanes[link.b].n), link.protocol, link.dport >= 0 ? link.dport : "-", link.bytes >= 0 ? link.bytes : null, took,
				link.low === null ? 0 : Math.max(0, took + link.low), link.high === null ? null : took + link.high, link.id]];
		}) },
	"requests slowest": { most: 10, get note() { return notAll(); }, columns: [["SENT", "time"], ["REQUEST", ""], ["CLIENT", ""], ["SERVER", ""], ["PORT", ""], ["PROCESS", ""], ["TOTAL", "ns"], ["MOST OF IT", ""], ["FOR", "ns"]],
		rows: (from, to) => followedIn(from, to).flatMap(([first, end], g) => Array.from({ length: end - first }, (_, i) => slowestRow(first + i, whyGroups[g]))) },
	"requests lost": { get note() { return notAll() || "of all requests"; },
		columns: [...requestColumns, ["PROCESS", ""], ["PART", ""], ["BEHIND", ""], ["SUM", "ns"], ["MEDIAN", "ns"], ["SLOWEST", "ns"], ["MORE", "ns"]],
		rows: (from, to) => groupsIn(from, to).flatMap(({ group, parts }) => parts.map(({ kind, sum, median, slowest, more }) =>
			[more || 1e-9, [...group.key, partText(kind), kind.other || "-", sum, median, slowest, more]])) },
};
windowed["messages slow_pairs"] = { ...windowed["messages pairs"], rows: (from, to) => windowed["messages pairs"].rows(from, to).map(([count, cells]) => [count && (cells[4] ?? cells[3]), cells]) };

const rowsOfWindow = (box) => windowed[`${box.closest("section").id} ${box.querySelector("table").dataset.table}`];

const fillCell = (cell, value, unit) => {
	if (value === null || Number.isNaN(value)) cell.textContent = "-";
	else if (unit === "time") Object.assign(make("a", cell, { href: "#timeline", textContent: `${seconds(Math.round(value[0] / 1e3) * 1e3)}\u202fs` }).dataset, { t: value[0], d: value[1] });
	else cell.textContent = unit ? inText[unit](value) : value;
	if (unit && value !== null) cell.dataset.v = unit === "time" ? value[0] : value;
};
const windowTable = (box, from, to) => tableOf(rowsOfWindow(box), box.querySelector("table"), from, to);
const tableOf = ({ columns, rows, note, most: limit = 200 }, own, from, to, isShown) => {
	const all = rows(from, to).filter((row) => (row[0] || own.dataset.table === "processors") && (!isShown || isShown(row[1]))).sort((a, b) => b[0] - a[0]);
	const made = make("table", null, { className: "of-window" });
	made.dataset.table = own.dataset.table;
	const caption = make("caption", made, { textContent: own.caption.firstChild.textContent + " " });
	make("small", caption, { textContent: `in the window${note ? `, ${note}` : ""}${all.length > limit ? `, ${limit} of ${all.length} rows` : all.length ? "" : ": nothing"}` });
	const head = make("tr", make("thead", made));
	for (const [title, unit] of columns) make("th", head, { textContent: title, className: unit && unit !== "time" ? "n" : "", scope: "col" });
	const body = make("tbody", made);
	for (const { 1: cells } of all.slice(0, limit)) {
		const row = make("tr", body);
		columns.forEach(([, unit], i) => fillCell(make(i ? "td" : "th", row, { className: unit && unit !== "time" ? "n" : "" }), cells[i], unit));
	}
	return made;
};
// Mark the parts that do not follow the window: clocks, problems, facts of nodes, comparisons, findings.
const sayWhole = (at, isSelected) => {
	at.querySelector(".whole")?.remove();
	if (isSelected) make("small", at, { className: "whole", textContent: " of the whole page" });
};
const followTables = (from, to) => {
	for (const box of document.querySelectorAll(".table")) {
		const own = box.querySelector("table:not(.of-window)");
		box.querySelector(".of-window")?.remove();
		own.hidden = !!selected && !!rowsOfWindow(box);
		for (const same of box.querySelectorAll(".same")) same.hidden = own.hidden;
		if (own.hidden) {
			const made = windowTable(box, from, to);
			box.append(made);
			sortable(made);
		} else sayWhole(own.caption, selected);
		box.dispatchEvent(new Event("follow"));
	}
};
// Pictures of the slowest requests are there if these lie in the window; findings outside of it are dim.
const followPictures = (from, to) => {
	for (const figure of document.querySelectorAll("figure.path")) {
		const { t, d } = figure.querySelector("a[data-t]").dataset;
		figure.hidden = !!selected && (Number(t) >= to * stepNs || Number(t) + Number(d) < from * stepNs);
	}
	for (const about of document.querySelectorAll(".paths")) about.hidden = !document.querySelector("figure.path:not([hidden])");
	for (const finding of document.querySelectorAll("#findings li")) {
		const [first, end] = (finding.querySelector("a[data-w]")?.dataset.w ?? "").split(" ").map(Number);
		finding.classList.toggle("outside", !!selected && end !== undefined && (first >= to || end <= from));
	}
	document.querySelector("#findings .of").textContent = selected ? "Of the whole page; findings outside of the window are dim." : "";
	const facts = document.querySelector(".facts");
	facts.querySelector(".of-window")?.remove();
	if (selected) facts.append(" ");
	if (selected) make("span", facts, { className: "of-window", textContent: `in the window ${sumOfBins(pairs, "count", from, to)} messages, ${sumOfBins(requests, "count", from, to)} requests` });
};
followers.push(followTables, followPictures);
