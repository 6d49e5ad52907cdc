// SPDX-License-Identifier: GPL-3.0-or-later
// Moving in the timeline: by buttons, keys, pointers and links; searching.
// ---- moving about
const setShown = (from, to) => {
	const least = Math.min(span, 200), w = Math.min(span, Math.max(to - from, least)), middle = (from + to) / 2;
	t0 = Math.min(Math.max(0, middle - w / 2), span - w);
	t1 = t0 + w;
};
const show = (from, to) => {
	setShown(from, to);
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
