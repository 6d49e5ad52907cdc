// SPDX-License-Identifier: GPL-3.0-or-later
// faults.mjs DIR SCENARIOS: of each SCENARIOS/NAME.scenario, DIR/NAME.html in Chromium: the first screen says
// what its line "# finding: KIND NODE FROM TO" says: of which kind, the node, and a time that overlaps.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { closeBrowser, dataOf, openPage } from "./browser.mjs";

const [directory, scenarios] = process.argv.slice(2);
const names = readdirSync(scenarios).filter((name) => name.endsWith(".scenario")).map((name) => name.slice(0, -9));
const page = await openPage(directory, "faults", true, names[0]);
const missed = [];
await page.width(1280);
for (const name of names) {
	const [, kinds, node, from, to] = /^# finding: (\S+) (\S+) (\S+) (\S+)$/m.exec(readFileSync(`${scenarios}/${name}.scenario`, "utf8"));
	await page.visit(`${directory}/${name}.html`);
	const step = dataOf(`${directory}/${name}.html`).bins.stepNs;
	const cards = await page.run(`return [...document.querySelectorAll("#findings li")].map((li) => {
		const link = li.querySelector("a[data-w]");
		return { kind: li.id.replace(/^finding-/, ""), text: li.innerText, bottom: li.getBoundingClientRect().bottom + scrollY,
			time: link ? link.dataset.w.split(" ").map((k) => k * arguments[0] / 1e9) : null };
	})`, step);
	const isRight = (card) => kinds.split("|").includes(card.kind.replace(/-\d+$/, "")) && new RegExp(node).test(card.text.replaceAll("\n", " ")) && card.bottom <= 900
		&& (!card.time || (card.time[0] < Number(to) + 0.5 && card.time[1] > Number(from) - 0.5));
	if (!cards.some(isRight)) missed.push(`${name}: ${kinds} ${node} ${from} to ${to}:\n` + cards.map((card) => `\t${card.kind} ${card.bottom} ${card.time} ${card.text.replaceAll("\n", " ")}`).join("\n"));
}
assert.deepEqual(await page.log(), []);
await page.close();
closeBrowser();
console.log(`${names.length - missed.length} of ${names.length} faults are found`);
if (missed.length) console.log(missed.join("\n"));
assert.ok(names.length >= 20 && missed.length <= 2);
