// SPDX-License-Identifier: GPL-3.0-or-later
// report.mjs DIR EVENTS MESSAGES MOST_NS: DIR/report.html in Chromium, by WebDriver.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";

const [directory, events, messages, mostLatency] = process.argv.slice(2);
const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
process.on("exit", () => driver.kill());
const port = await new Promise((resolve, reject) => {
	let text = "";
	driver.on("exit", () => reject(new Error(`chromedriver ended: ${text}`)));
	driver.stdout.on("data", (data) => {
		text += data;
		const found = /successfully on port (\d+)/.exec(text);
		if (found) resolve(found[1]);
	});
});

const call = async (method, path, body) => {
	const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
		method, body: body && JSON.stringify(body),
	});
	const { value } = await answer.json();
	if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(value)}`);
	return value;
};

const open = async (name, javascript) => {
	const { sessionId } = await call("POST", "/session", { capabilities: { alwaysMatch: {
		browserName: "chrome",
		"goog:loggingPrefs": { browser: "ALL" },
		"goog:chromeOptions": {
			prefs: { "profile.managed_default_content_settings.javascript": javascript ? 1 : 2 },
			args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--window-size=1200,900", `--user-data-dir=${directory}/${name}`],
		},
	} } });
	const at = `/session/${sessionId}`;
	await call("POST", `${at}/url`, { url: `file://${directory}/report.html` });
	return {
		run: (script, ...args) => call("POST", `${at}/execute/sync`, { script, args }),
		log: () => call("POST", `${at}/se/log`, { type: "browser" }),
		close: () => call("DELETE", at),
	};
};

const zoomed = "return [...document.querySelectorAll('svg.t')].map((svg) => svg.getAttribute('viewBox').split(' ').map(Number))";
const settle = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";

const page = await open("with", true);
assert.deepEqual(await page.run("return [...document.querySelectorAll('.tiles dd')].map((dd) => dd.dataset.v).slice(3, 5)"), [events, messages]);
assert.ok(await page.run(`return !!document.querySelector('table[data-table="slowest"] td[data-v="${mostLatency}"]')`), "the slowest message");
const whole = await page.run(zoomed);
assert.ok(whole.length > 10 && whole.every((box) => box[0] === 0 && box[2] === 1e6), "all is shown");
const ticks = await page.run("return document.querySelector('#cpu .ticks').textContent");
await page.run("const figure = document.querySelector('#cpu'); figure.focus(); figure.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }))");
await page.run(settle);
const half = await page.run(zoomed);
assert.ok(half.every((box) => box[0] === 250000 && box[2] === 500000), "all pictures zoom by a key");
assert.notEqual(await page.run("return document.querySelector('#cpu .ticks').textContent"), ticks);
await page.run("document.querySelector('#cpu').dispatchEvent(new KeyboardEvent('keydown', { key: '.', bubbles: true }))");
assert.match(await page.run("return document.querySelector('#tip').textContent"), /node1 busy: .*%/);
await page.run("document.querySelector('#tools button[aria-label=\"the whole run\"]').click()");
await page.run(settle);
assert.deepEqual(await page.run(zoomed), whole);
const colour = "return getComputedStyle(document.body).backgroundColor";
const before = await page.run(colour);
await page.run("document.querySelector('#tools button[aria-label=\"dark or light\"]').click()");
assert.notEqual(await page.run(colour), before);
assert.deepEqual(await page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"), []);
assert.deepEqual(await page.log(), [], "nothing on the console");
await page.close();

const still = await open("without", false);
assert.equal(await still.run("return document.querySelector('#tools').hidden"), true, "scripts are off");
assert.ok(await still.run("return document.querySelectorAll('svg.t path').length") > 50);
assert.ok((await still.run("return document.querySelector('#cpu .ticks').textContent")).includes("1"));
await still.close();
console.log(`${whole.length} pictures zoom, ${events} events, ${messages} messages`);
driver.kill();
