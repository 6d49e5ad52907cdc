// SPDX-License-Identifier: GPL-3.0-or-later
// Sums by steps of time, which a window adds up.
if (!window.DecompressionStream) make("p", byId("view"), { className: "note", textContent: "Pictures and windows need a newer browser: Chrome 117, Firefox 119, Safari 17.4 or later." });
const data = await unpacked("data").json();
const view = data.span ? byId("view") : make("div"); // nothing is drawn of a run without time

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const code = new Uint8Array(128);
[...alphabet].forEach((letter, i) => code[letter.charCodeAt()] = i);
const digitAt = (text, i) => code[text.charCodeAt(i)];
const numberAt = (text, i) => digitAt(text, i) * 64 + digitAt(text, i + 1);
const unpack = (text) => {
	const list = new Int16Array(text.length / 2);
	for (let i = 0; i < list.length; i++) list[i] = (numberAt(text, 2 * i) + 1 & 4095) - 1;
	return list;
};

// "UNIT,TEXT": a number up to 3900 is the next step's value in units, a greater one skips steps.
const series = (text) => {
	let at = null, value = null;
	const read = () => {
		const [unit, digits] = text ? text.split(",") : ["1", ""];
		at = [];
		value = [];
		for (let i = 0, step = 0; i < digits.length; i += 2) {
			const number = numberAt(digits, i);
			if (number > 3900) {
				step += number - 3900;
				continue;
			}
			at.push(step++);
			value.push(number * Number(unit));
		}
	};
	const fold = (from, to, start, add) => {
		if (!at) read();
		let low = 0, high = at.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (at[middle] < from) low = middle + 1; else high = middle;
		}
		let all = start;
		for (; low < at.length && at[low] < to; low++) all = add(all, value[low], at[low]);
		return all;
	};
	return { isKnown: text !== null,
		sum: (from, to) => fold(from, to, 0, (all, one) => all + one),
		most: (from, to) => fold(from, to, 0, Math.max),
		each: (from, to, tell) => fold(from, to, 0, (_, one, step) => tell(step, one)) };
};

// Durations by steps: the lowest bucket, then digits: up to 31 how many buckets of the next step follow, 32 that these are more of
// the same step, others skip steps. A bucket is how far it is from the one before, and from 32 on how many values more than
// two it has follows; 31 and 63 go on in the next digit.
const histogram = (text) => {
	let list = null; // step, bucket, count ...
	const read = () => {
		list = [];
		if (!text) return;
		let i = 0, one;
		const digit = () => one = digitAt(text, i++), base = digit() * 64 + digit();
		for (let step = -1; i < text.length;) {
			step += digit() < 32 ? 1 : one > 32 ? one - 32 : -1;
			for (let left = one < 32 ? one : 0, bucket = base; left > 0; left--) {
				do bucket += digit() % 32; while (one === 31);
				let count = one < 32 ? 1 : 2;
				if (count > 1) do count += digit(); while (one === 63);
				list.push(step, bucket, count);
			}
		}
	};
	return { add: (into, from, to) => {
		if (!list) read();
		for (let i = 0; i < list.length; i += 3)
			if (list[i] >= from && list[i] < to) into[list[i + 1]] = (into[list[i + 1]] ?? 0) + list[i + 2];
		return into;
	} };
};
// The value of a rank between order statistics, as everywhere, to within half a bucket; null without histograms.
const quantile = (counts, fine, share, most) => {
	let all = 0;
	for (const count of counts) all += count ?? 0;
	if (!all) return null;
	const rank = share * (all - 1), valueAt = (k) => {
		let bucket = 0;
		for (let sum = counts[0] ?? 0; sum <= k && bucket < counts.length; sum += counts[bucket] ?? 0) bucket++;
		return k >= all - 1 ? most : Math.min(most, 2 ** ((bucket + 0.5) / fine));
	};
	const low = valueAt(Math.floor(rank)), high = valueAt(Math.ceil(rank));
	return low + (high - low) * (rank - Math.floor(rank));
};

// Rows of a table by steps: a key, how many, what they took, the longest, further sums, how long.
const table = (name, keys) => {
	const { fine, rows } = data.bins[name];
	return rows.map((row) => {
		const [count, took, longest] = row.slice(keys, keys + 3).map(series);
		const long = histogram(row[row.length - 1]);
		return { key: row.slice(0, keys), count, took, longest, sums: row.slice(keys + 3, -1).map(series),
			counts: (into, from, to) => fine ? long.add(into, from, to) : into,
			quantile: (from, to, share) => fine ? quantile(long.add([], from, to), fine, share, longest.most(from, to)) : null };
	});
};
const stepNs = data.bins.stepNs, steps = data.bins.steps;
const waiting = data.bins.waiting.map(series);
const pairs = table("pairs", 2), requests = table("requests", 3), disks = table("disks", 3), diskBusy = table("busy", 2), syscalls = table("syscalls", 1);
const origins = table("origins", 4), memory = table("memory", 3), resident = table("resident", 2), periods = table("periods", 2), interfaces = table("interfaces", 2), interrupts = table("interrupts", 4);

// Segments sent again, by pair and step.
const losses = [...data.again.reduce((all, [from, to, step, count]) => {
	const key = `${from} ${to}`, row = all.get(key) ?? all.set(key, { key: [from, to], counts: new Map() }).get(key);
	row.counts.set(step, count);
	return all;
}, new Map()).values()];
