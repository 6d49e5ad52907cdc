// SPDX-License-Identifier: GPL-3.0-or-later
// The selected window: whole steps of time, in the address, and what follows it.
let selected = null; // [first step, last step + 1]; null: the whole page
const followers = []; // what is drawn anew, with the window's steps
const windowBar = make("div", byId("heat"), { className: "bar", id: "window" });

const seconds = (ns) => (ns / 1e9).toFixed(9).replace(/\.?0+$/, "");
const windowTimes = () => [selected[0] * stepNs, Math.min(span, selected[1] * stepNs)];
const address = () => {
	const parts = [...selected ? ["t=" + windowTimes().map(seconds).join(",")] : [], ...measure ? ["m=" + measure.id] : []];
	history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
};
const shellWord = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const showWindow = () => {
	windowBar.replaceChildren();
	if (!selected) {
		make("span", windowBar, { className: "note", textContent: "Click or drag in the map to select a window of time: the timeline zooms to it, and the tables count it alone." });
		return;
	}
	const [from, to] = windowTimes(), file = shellWord(data.file);
	const scope = `--begin +${seconds(data.offset + from)} --end +${seconds(data.offset + to)}`;
	make("b", windowBar, { textContent: `${seconds(Math.round(from / 1e3) * 1e3)} \u2013 ${seconds(Math.round(to / 1e3) * 1e3)}\u202fs (${spanText(to - from)})` });
	// The analysis that has the rows of what the map shows.
	const rows = { busy: "cpu", waiting: "sched --top", disk: "io --top", slowest: "requests --top", p99: "requests --top", again: "net", sar: "metrics", memory: "mem", io: "metrics", net: "metrics" }[measure?.id];
	for (const command of [`ctanalyze why ${scope} ${file}`, ...rows ? [`ctanalyze ${rows} ${scope} ${file}`] : [], `ctexport perfetto ${scope} ${file} -o window.json`]) make("code", windowBar, { textContent: command });
	button(windowBar, "whole page", "end the selection", () => select(null));
};
const follow = perFrame(() => {
	for (const draw of followers) draw(...selected ?? [0, steps]);
	redrawNow();
});
const select = (window, move = true) => {
	selected = window;
	root.dataset.window = window ? window.join(" ") : "";
	address();
	showWindow();
	if (move) setShown(...window ? windowTimes() : data.home);
	follow();
};
// Steps that a span of time touches.
const selectTime = (from, to, move = false) => {
	const first = Math.max(0, Math.min(steps - 1, Math.floor(from / stepNs + 1e-6)));
	select([first, Math.max(first + 1, Math.min(steps, Math.ceil(to / stepNs - 1e-6)))], move);
};
const readAddress = () => {
	const parts = new URLSearchParams(location.hash.slice(1)), [from, to] = (parts.get("t") ?? "").split(",").map((text) => Math.round(Number(text) * 1e9));
	measure = measures.find((one) => one.id === parts.get("m")) ?? measure;
	if (from >= 0 && to > from) selectTime(from, to, true);
};
// A link to a place of the page leaves the window in the address.
document.addEventListener("click", (event) => {
	const link = event.target.closest?.("a[href^='#']"), place = link && byId(link.hash.slice(1));
	if (!place) return;
	if (link.dataset.w) select(link.dataset.w.split(" ").map(Number));
	if (link.dataset.m) setMeasure(link.dataset.m);
	event.preventDefault();
	place.scrollIntoView();
});
