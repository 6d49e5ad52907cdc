// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them, with four digits that count.
const digits = (value) => {
	const size = Math.abs(value);
	return value.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : size === Math.round(size) ? 0 : 3);
};
const spanText = (ns) => {
	const size = Math.abs(ns);
	if (size >= 9.995e8) return digits(ns / 1e9) + "\u202fs";
	if (size >= 9.995e5) return digits(ns / 1e6) + "\u202fms";
	if (size >= 999.5) return digits(ns / 1e3) + "\u202f\u00b5s";
	return Math.round(ns) + "\u202fns";
};
const bytesText = (value) => {
	const names = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; Math.abs(value) >= 1024 && i < 4; i++) value /= 1024;
	return digits(value) + "\u202f" + names[i];
};
const valueText = (value, unit) =>
	unit === "%" ? value.toPrecision(3) + "\u202f%" : unit === "ns" ? "\u00b1\u202f" + spanText(value) :
	unit === "bytes" ? bytesText(value) : bytesText(value) + "/s";

const roundText = (ns) => spanText(ns).replace(/\.0+(?=\u202f)/, "").replace(/(\.\d*[1-9])0+(?=\u202f)/, "$1");
