// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the timeline, unpacked: processors, threads, messages, curves, tasks and periods.
const states = ["runnable", "running", "sleeping", "sleeping, not interruptible", "blocked"];
const waits = ["", "disk", "network", "timer", "interrupt", "thread"];
const span = data.span, cellNs = data.cellNs;
const gapsOf = (n, cpu) => data.gaps.filter((gap) => gap[0] === n && gap[1] === cpu).map((gap) => gap.slice(2));
const nodeGaps = data.nodes.map((_, n) => gapsOf(n, -1));
const lanes = data.lanes.map((lane) => {
	const busy = unpack(lane.busy), known = new Float32Array(busy.length);
	for (let i = 0; i < busy.length; i++) known[i] = busy[i] < 0 ? 0 : 1;
	for (let i = 0; i < lane.known.length; i += 2) known[lane.known[i]] = lane.known[i + 1];
	return { n: lane.n, c: lane.c, gaps: gapsOf(lane.n, lane.c), busy, known, irq: unpack(lane.irq), soft: unpack(lane.soft), who: unpack(lane.who), runs: [], irqs: [] };
});
const threads = data.threads.map(([n, tid, name, process, ran, first, last, run, waitCount, waitSum, waitMost]) =>
	({ n, tid, name, process, ran, first, last, run: series(run), waitCount: series(waitCount), waitSum: series(waitSum), waitMost: series(waitMost), spans: [] }));
const laneOf = new Map(lanes.map((lane, i) => [lane.n + " " + lane.c, i]));
// A window cuts items that began before it or end after it.
const cutAt = (window, from, to) => (from <= window.from ? 1 : 0) | (to >= window.to ? 2 : 0);
for (const window of data.exact) {
	for (const list of window.states) {
		const thread = threads[list[0]];
		if (list.length === 4) list.splice(1, 0, 0, window.to - window.from); // all of the window
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
		if (list.length === 2) list.push(0, window.to - window.from);
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
// A thread of which no name was recorded is called by who gives its events: "app" of app:begin.
const providerOf = (event) => /^([^:]+):/.exec(event)?.[1] ?? "thread";
const tracksOf = data.nodes.map((_, n) => {
	const tasks = data.tasks.filter((row) => row[0] === n).map(([, from, to, name, status, pid]) => ({ from, to: to ?? span, kind: "task", name, cut: to === null ? 2 : 0,
		fields: [...pid >= 0 ? [["process", pid]] : [], ...status >= 0 ? [["exit status", status]] : []] }));
	const byTid = new Map();
	for (const [, tid, comm, from, to, first, last] of data.periods.filter((row) => row[0] === n)) {
		const list = byTid.get(tid) ?? byTid.set(tid, []).get(tid);
		list.push({ from, to, kind: "period", name: `${first} \u2192 ${last}`, cut: 0, fields: [["thread", comm ? `${comm} (${tid})` : String(tid)]], lane: comm || providerOf(first) });
	}
	const threadsOf = [...byTid].sort((a, b) => b[1].length - a[1].length).slice(0, 8);
	return [...stack(tasks, 6).map((items, i) => ({ items, name: i ? "" : "tasks", sub: "" })),
		...threadsOf.flatMap(([tid, list]) => stack(list, 2).map((items, i) => ({ items, name: i ? "" : list[0].lane, sub: i || tid < 0 ? "" : String(tid) })))];
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
