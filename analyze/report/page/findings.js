// SPDX-License-Identifier: GPL-3.0-or-later
// The rows behind a finding: the first of them, the command that lists them, and the way to the table of the page.
const behind = { requests: ["requests --top", "requests slowest"], saturated: ["cpu", "resources threads"], sampled: ["metrics"], disk: ["io --top", "resources disks"],
	"slow-disk": ["io --top", "resources disks"], way: ["messages --top", "messages slowest"], resent: ["net --table pairs", "messages pairs"],
	offline: ["cpu --table cpus", "resources processors"], memory: ["mem", "resources nodes"], swap: ["mem", "resources nodes"], interrupts: ["irq", "resources interrupts"],
	peer: ["requests --group port", "requests parts"], set: ["clocks"], failed: ["--table tasks", "user tasks"], lost: ["problems"], clocks: ["clocks"],
	request: ["requests --top", "requests slowest"], why: ["why --table parts", "requests lost"], message: ["messages --top", "messages slowest"],
	busiest: ["cpu", "resources threads"] };
const placeOf = { sampled: "timeline", lost: "problems", set: "clocks", clocks: "clocks" };
const boxOfTable = (name) => [...document.querySelectorAll(`#${name.split(" ")[0]} .table`)].find((box) => box.querySelector("table").dataset.table === name.split(" ")[1]);
const showBehind = (finding) => {
	const { kind, node } = finding.dataset, [analysis, name] = behind[kind], window = finding.querySelector("a[data-w]")?.dataset.w.split(" ").map(Number);
	const [from, to] = window ?? [0, steps], box = name && boxOfTable(name), into = make("div", finding, { className: "behind", id: `${finding.id}-rows` });
	const isShown = (cells) => node === undefined || cells.includes(data.nodes[node]);
	if (box) into.append(tableOf({ ...windowed[name], most: 5 }, box.querySelector("table"), from, to, isShown));
	const times = [from * stepNs, Math.min(span, to * stepNs)].map((t) => "+" + seconds(data.offset + t));
	const scope = (window ? ` --begin ${times[0]} --end ${times[1]}` : "") + (node === undefined || ["clocks", "lost"].includes(kind) ? "" : ` --node ${shellWord(data.nodes[node])}`);
	make("code", into, { textContent: `ctanalyze ${analysis}${scope} ${shellWord(data.file)}` });
	into.append(" ");
	button(into, "in the page", "show these rows in the table of the page", () => {
		if (window) select(window);
		const filter = box?.previousElementSibling?.querySelector("input[type=search]");
		if (filter) {
			filter.value = node === undefined ? "" : data.nodes[node];
			filter.dispatchEvent(new Event("input"));
		}
		(box ?? byId(placeOf[kind])).scrollIntoView();
	});
};
for (const finding of document.querySelectorAll("#findings li")) {
	const { kind } = finding.dataset;
	if (!data.span || !behind[kind] || (behind[kind][1] && !boxOfTable(behind[kind][1]))) continue;
	const text = finding.querySelector("p");
	text.append(text.lastChild.nodeName === "A" ? "\u00a0\u00b7 " : " ");
	const title = finding.querySelector("h3").textContent;
	const rows = button(text, "Rows", `the rows behind: ${title}`, () => {
		const shown = finding.querySelector(".behind");
		rows.ariaExpanded = String(!shown);
		if (shown) shown.remove(); else showBehind(finding);
	});
	rows.className = "rows";
	rows.ariaExpanded = "false";
	rows.setAttribute("aria-controls", `${finding.id}-rows`);
}
