// SPDX-License-Identifier: GPL-3.0-or-later
// Tables: columns sort by what the numbers are, not by how they are printed; rows filter.
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
// Fade the sides behind which tables go on. All sizes are read before a class is set: else each table would have the page laid
// out anew.
const fade = (boxes) => {
	const sides = boxes.map((box) => [box.scrollLeft > 2, box.scrollLeft + box.clientWidth < box.scrollWidth - 2]);
	boxes.forEach((box, i) => {
		box.classList.toggle("more-left", sides[i][0]);
		box.classList.toggle("more-right", sides[i][1]);
	});
};
const fadeAll = () => fade([...document.querySelectorAll(".table")]);
redraws.push(fadeAll);
const sortable = (table) => [...table.tHead.rows[0].cells].forEach((head, index) => {
	head.setAttribute("aria-sort", "none");
	head.tabIndex = 0;
	head.addEventListener("click", () => sortBy(head, index));
	head.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" && event.key !== " ") return;
		event.preventDefault();
		sortBy(head, index);
	});
});
const prepare = (box) => {
	const table = box.querySelector("table"), shown = () => box.querySelector(".of-window") ?? table;
	sortable(table);
	box.addEventListener("scroll", () => fade([box]), { passive: true });
	const whole = table.tBodies[0].rows.length;
	if (whole < 8) return;
	const tools = make("div", null, { className: "tools" });
	box.before(tools);
	const filter = make("input", tools, { type: "search", placeholder: "filter rows" });
	filter.setAttribute("aria-label", "filter rows of " + box.getAttribute("aria-label"));
	const count = make("output", tools);
	const filterRows = () => {
		const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), { rows } = shown().tBodies[0];
		let matching = 0;
		for (const row of rows) {
			const text = row.textContent.toLowerCase();
			row.hidden = !words.every((word) => text.includes(word));
			matching += !row.hidden;
		}
		shown().classList.toggle("short", !words.length && !all);
		count.textContent = words.length ? `${matching} of ${rows.length} rows` : "";
	};
	filter.addEventListener("input", () => {
		filterRows();
		fade([box]);
	});
	box.addEventListener("follow", filterRows);
	let all = !box.dataset.rows;
	if (all) return;
	table.classList.add("short");
	const more = button(tools, "show all rows", `show all rows of ${box.getAttribute("aria-label")}`, () => {
		all = !all;
		filterRows();
		fade([box]);
		more.textContent = all ? "show fewer" : "show all rows";
	});
};
