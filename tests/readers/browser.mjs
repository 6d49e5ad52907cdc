// SPDX-License-Identifier: GPL-3.0-or-later
// Pages in Chromium, by WebDriver.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { gunzipSync } from "node:zlib";

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

// The page as its script sees it.
export const dataOf = (file) => JSON.parse(gunzipSync(Buffer.from(/id="data">\n(.*)\n/.exec(fs.readFileSync(file, "utf8"))[1], "base64")));

// A page of a directory, once all is drawn; `name` is that of the browser's own files.
export const openPage = async (directory, name, javascript, file) => {
	const { sessionId } = await call("POST", "/session", { capabilities: { alwaysMatch: {
		browserName: "chrome",
		timeouts: { script: 300000, pageLoad: 300000 }, // a busy machine may need more than 30 s
		"goog:loggingPrefs": { browser: "ALL" },
		"goog:chromeOptions": {
			prefs: { "profile.managed_default_content_settings.javascript": javascript ? 1 : 2 },
			args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--window-size=1200,900", `--user-data-dir=${directory}/${name}`],
		},
	} } });
	const at = `/session/${sessionId}`;
	const run = (script, ...args) => call("POST", `${at}/execute/sync`, { script, args });
	const visit = async (path, state = "drawn") => {
		await call("POST", `${at}/url`, { url: `file://${path}` });
		if (javascript) await run(`return new Promise((done) => {
			const wait = () => document.documentElement.classList.contains(arguments[0]) ? done() : setTimeout(wait, 20);
			wait();
		})`, state);
	};
	await visit(`${directory}/${file}.html`, "complete");
	return {
		run,
		visit,
		key: (key) => call("POST", `${at}/actions`, { actions: [{ type: "key", id: "keys", actions: [{ type: "keyDown", value: key }, { type: "keyUp", value: key }] }] }),
		log: () => call("POST", `${at}/se/log`, { type: "browser" }),
		width: (width) => call("POST", `${at}/goog/cdp/execute`, { cmd: "Emulation.setDeviceMetricsOverride", params: { width, height: 900, deviceScaleFactor: 1, mobile: false } }),
		close: () => call("DELETE", at),
	};
};

export const closeBrowser = () => driver.kill();
