// SPDX-License-Identifier: GPL-3.0-or-later
// Elements of the page, the tip over pictures, and what canvases share.
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

// The content of a script element that was packed: gzip, in base64.
const unpacked = (id) => {
	const text = byId(id).textContent.trim(), bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (one) => one.charCodeAt());
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};

// ---- one tip for all pictures
const tip = make("div", document.body, { id: "tip", hidden: true });
const tell = (text, x, y) => {
	tip.hidden = !text;
	tip.textContent = text ?? "";
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
	tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
};

// Colours of the style by name, each read once: reading one costs more than filling a rectangle.
let inks = null;
const colours = () => inks ??= (() => {
	const style = getComputedStyle(root), read = new Map();
	return (name) => {
		if (!read.has(name)) read.set(name, style.getPropertyValue("--" + name).trim());
		return read.get(name);
	};
})();
const preferred = matchMedia("(prefers-color-scheme: dark)");
const night = [...document.styleSheets[0].cssRules].find((rule) => rule.media?.mediaText === preferred.media).media;
// Run a task once in the next frame, however often it is called until then: a key that is held, or a drag, has more events than
// there are frames.
const perFrame = (task) => {
	let isQueued = false;
	return () => {
		if (!isQueued) requestAnimationFrame(() => {
			isQueued = false;
			task();
		});
		isQueued = true;
	};
};
const redraws = [() => inks = null];
const redrawNow = () => redraws.forEach((draw) => draw());
const redraw = perFrame(redrawNow);
// Run what the first screen does not need once that is drawn, one task at a time, so that a click need not wait for all.
const waiters = [];
const runWaiter = async () => {
	await waiters.shift()?.();
	if (waiters.length) requestIdleCallback(runWaiter, { timeout: 200 });
};
const later = (task) => {
	if (waiters.push(task) === 1) requestAnimationFrame(() => requestIdleCallback(runWaiter, { timeout: 200 }));
};
// Paper has all pictures, also those that the browser had no time to draw.
addEventListener("beforeprint", () => {
	while (waiters.length) waiters.shift()();
});
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
// A text that fits. More is kept of its end than of its beginning: the ends tell names apart.
const shortened = (pen, text, room) => {
	let short = text;
	for (let kept = text.length - 1; kept > 0 && pen.measureText(short).width > room; kept--) {
		const head = Math.floor(kept / 3);
		short = text.slice(0, head) + "\u2026" + text.slice(head - kept);
	}
	return short;
};
