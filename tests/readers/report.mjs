// SPDX-License-Identifier: GPL-3.0-or-later
// report.mjs DIR EVENTS MESSAGES MOST_NS TIMELINE: DIR/report.html in Chromium, by WebDriver.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeBrowser, dataOf, openPage } from "./browser.mjs";

const [directory, events, messages, mostLatency, timeline] = process.argv.slice(2);
const open = (name, javascript, file = "report") => openPage(directory, name, javascript, file);

const ofAnalysis = (file, ...words) => JSON.parse(execFileSync("ctanalyze", [...words, "--limit", "0", "--format", "json", file], { encoding: "utf8", maxBuffer: 1 << 26 }));
const sqlRows = (file, sql) => execFileSync("sqlite3", ["-readonly", file, sql], { encoding: "utf8", maxBuffer: 1 << 26 }).trim().split("\n").map((row) => row.split("|").map(Number));
// Each part of a group that a page shows is to the nanosecond what why counts; the page has all, or those with the most more.
const keyOfPart = (...words) => words.map((word) => word ?? "-").join(" ");
const checkParts = (shown, parts) => {
	assert.equal(shown.length, Math.min(200, parts.length));
	const bySum = new Map(parts.map((row) => [keyOfPart(row.client, row.server, row.port, row.process, row.other || "-", row.sum_ns), row]));
	for (const [client, server, port, process, , behind, sum, median, slowest] of shown) {
		const row = bySum.get(keyOfPart(client, server, port, process, behind, sum));
		assert.ok(row && Math.abs(median - row.median_ns) < 1 && Math.abs(slowest - row.slowest_ns) < 1, `${client} ${server} ${behind} ${sum} ${median} ${slowest}: ${JSON.stringify(row)}`);
	}
};
const settle = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
const helpers = `
	const picture = document.querySelector("#picture"), root = document.documentElement;
	const shown = () => [Number(root.dataset.from), Number(root.dataset.to)];
	const key = (name) => picture.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
	const press = (label) => document.querySelector('button[aria-label="' + label + '"]').click();
	const search = (text) => { const input = document.querySelector("#search"); input.value = text; input.dispatchEvent(new Event("input")); };
	const point = (type, x, y) => { const box = picture.getBoundingClientRect(); picture.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: box.left + x, clientY: box.top + y, bubbles: true })); };
	picture.setPointerCapture = () => {};
`;
const page = await open("with", true);
const act = async (script, ...args) => {
	const value = await page.run(helpers + script, ...args);
	await page.run(settle);
	return value;
};
const shown = () => act("return shown()");

// The start of the page.
assert.deepEqual(await page.run("return [...document.querySelectorAll('.facts span')].map((span) => span.dataset.v).slice(1, 3)"), [events, messages]);
assert.ok(await page.run(`return !!document.querySelector('table[data-table="slowest"] td[data-v="${mostLatency}"]')`), "the slowest message");

assert.equal(await page.run("return document.querySelector('#map-before').offsetHeight"), 0, "no empty map");

// It begins where all nodes were recorded; buttons, keys and drags move and zoom.
const data = dataOf(`${directory}/report.html`);
const home = await shown();
assert.deepEqual(home, data.home);
await act("key('+')");
const half = await shown();
assert.ok(Math.abs(half[1] - half[0] - (home[1] - home[0]) / 2) <= 2, "+ halves what is shown");
await act("press('zoom out')");
assert.ok(Math.abs((await shown())[0] - home[0]) <= 2);
await act("press('the whole run')");
assert.deepEqual(await shown(), [0, data.span]);
await act("press('zoom in'); press('later')");
assert.ok((await shown())[0] > data.span / 4);
await act("point('pointerdown', 600, 40); point('pointermove', 700, 40); point('pointerup', 700, 40)");
assert.ok((await shown())[0] < data.span / 2, "a drag to the right shows what was before");
await act("key('0')");
assert.deepEqual(await shown(), data.home);

// The map: a drag selects whole steps of time, which are in the address; the timeline zooms to them, and tables
// have what the analyses count in the same time.
const { stepNs, steps } = data.bins;
const drag = (a, b) => act(`const map = document.querySelector("#map"), box = map.getBoundingClientRect(); map.setPointerCapture = () => {};
	const at = (type, share) => map.dispatchEvent(new PointerEvent(type, { pointerId: 2, clientX: box.left + 150 + share * (box.width - 150), clientY: box.top + 30, bubbles: true }));
	at("pointerdown", arguments[0]); at("pointermove", arguments[1]); at("pointerup", arguments[1]);`, a, b);
await drag(0.3001, 0.4001);
const [first, end] = (await page.run("return document.documentElement.dataset.window")).split(" ").map(Number);
assert.ok(Math.abs(first - 0.3 * steps) < 2 && Math.abs(end - 0.4 * steps) < 2, `steps ${first} to ${end}`);
assert.deepEqual((await shown()).map((t) => Math.round(t / stepNs)), [first, end]);
const [, from, to] = /^#t=([\d.]+),([\d.]+)&m=busy$/.exec(await page.run("return location.hash"));
const command = await page.run("return document.querySelector('#window code').textContent");
assert.ok(command.startsWith("ctanalyze why --begin +") && command.includes(` --end +`) && command.endsWith(timeline), command);
const scope = ["--begin", `+${from}`, "--end", `+${(Number(to) - 1e-9).toFixed(9)}`];
const asked = (...words) => JSON.parse(execFileSync("ctanalyze", [...words, ...scope, "--limit", "0", "--format", "json", timeline], { encoding: "utf8" }));
const ofWindow = (name) => page.run(`const table = document.querySelector('table.of-window[data-table="${name}"]');
	return [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)))`);
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 2e-3 * Math.max(a, b) + 2e4, `${what}: ${a}, not ${b}`);
const rowsOf = (answer, key) => (answer.tables ?? answer).find((one) => (one.name ?? one.table) === key).rows;
for (const cpu of rowsOf(asked("cpu"), "cpus")) {
	const row = (await ofWindow("processors")).find(([node, number]) => node === cpu.node && number === String(cpu.cpu));
	near(row[3], cpu.busy_ns, `processor ${cpu.cpu} of ${cpu.node}`);
}
const inWindow = await ofWindow("threads");
for (const thread of rowsOf(asked("cpu"), "threads").slice(0, 20)) {
	const row = inWindow.find(([, node, tid]) => node === thread.node && tid === String(thread.tid));
	near(row[4], thread.cpu_ns, `thread ${thread.tid} of ${thread.node}`);
}
for (const pair of rowsOf(asked("messages"), "pairs")) {
	const row = (await ofWindow("pairs")).find(([a, b]) => a === pair.from && b === pair.to);
	assert.equal(row[2], pair.messages);
	near(row[7], pair.max_ns, "the slowest message");
	assert.ok(Math.abs(Math.log2(row[4] / pair.p50_ns)) < 0.05, `median ${row[4]}, not ${pair.p50_ns}`);
}
const calls = rowsOf(asked("syscalls", "--group", "syscall"), "syscalls");
const callsInWindow = await ofWindow("syscalls");
for (const call of calls.filter((one) => one.count > 0)) {
	const row = callsInWindow.find(([name]) => name === call.syscall);
	// Those that began in the window, of which some ended behind it.
	assert.ok(row[1] >= call.count - 1 && row[1] <= call.count + call.unfinished + 1, `${call.syscall}: ${row[1]} calls, not ${call.count}`);
}
const handlersInWindow = await ofWindow("interrupts");
for (const handler of rowsOf(asked("irq"), "interrupts").slice(0, 20)) {
	const row = handlersInWindow.find(([, node, kind, number]) => node === handler.node && kind === handler.kind && number === String(handler.number));
	assert.ok(Math.abs(row[4] - handler.count) <= 0.02 * handler.count + 2, `interrupt ${handler.number}: ${row[4]}, not ${handler.count}`);
}
const interfacesInWindow = await ofWindow("interfaces");
for (const one of rowsOf(asked("net"), "interfaces")) {
	const row = interfacesInWindow.find(([node, name]) => node === one.node && name === one.interface);
	assert.deepEqual([row[2], row[5]], [one.sent, one.received], `packets of ${one.node} ${one.interface}`);
	near(row[3] * 1e6, one.sent_bytes * 1e6, "bytes sent");
}
const originsInWindow = await ofWindow("requests");
for (const one of rowsOf(asked("io"), "requests").filter((row) => row.count > 20)) {
	const row = originsInWindow.find(([node, pid, , operation]) => node === one.node && pid === String(one.pid) && operation === one.operation);
	// Those that began in the window, of which one or two ended behind it.
	assert.ok(row[4] >= one.count && row[4] <= one.count + 2 && Math.abs(row[5] / one.mean_ns - 1) < 0.1, `disk requests of ${one.process}: ${row[4]}, not ${one.count}`);
}
const memoryInWindow = await ofWindow("nodes");
for (const one of rowsOf(asked("mem"), "nodes")) {
	const row = memoryInWindow.find(([node]) => node === one.node);
	near(row[2], one.used_max_bytes, "most memory");
	near(row[4], one.available_min_bytes, "least available");
}
const slowestAsked = rowsOf(asked("requests", "--top"), "slowest");
const slowestInWindow = (await page.run(`return [...document.querySelectorAll('#requests table.of-window[data-table="slowest"] tbody tr')].map((row) => [row.cells[1].textContent, Number(row.cells[6].dataset.v)])`));
assert.ok(slowestInWindow.some(([request, total]) => request === String(slowestAsked[0].request) && total === slowestAsked[0].total_ns), "the slowest request of the window");
assert.equal((await page.run(`return [...document.querySelectorAll('#requests table.of-window[data-table="slowest"] caption')].map((one) => one.textContent)`)).filter((text) => text.includes("followed")).length, 0, "all requests are followed");
// The first loss that the page tells is one of those of why.
const why = rowsOf(asked("why"), "slow"), [whyText, whyMore] = await page.run("const row = document.querySelector('ul.why.of-window li'); return [row.textContent, Number(row.querySelector('b').dataset.v)]");
assert.ok(why.some((row) => row.why && whyText.includes(row.why.replace(/, \d+ % behind .*/, "")) && Math.abs(Math.log2(whyMore / row.more_ns)) < 1), `${whyText}: none of ${why.map((row) => row.why).join("; ")}`);
// In a window that cuts no request, the parts are those of why, and all of the requests' time.
await act("document.querySelector('#map').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))");
await act(`location.hash = '#t=0,${data.span / 1e9}'`);
const partsShown = await ofWindow("lost");
checkParts(partsShown, rowsOf(ofAnalysis(timeline, "why", "--table", "parts"), "parts"));
const requestTime = rowsOf(ofAnalysis(timeline, "requests", "--table", "totals"), "totals").reduce((all, row) => all + row.sum_ns, 0);
assert.equal(Math.round(partsShown.reduce((all, cells) => all + cells[6], 0)), requestTime, "the parts add up to the requests' times");
await act(`location.hash = '#t=${from},${to}'`);
assert.match(await page.run(`return document.querySelector('#clocks caption').textContent`), /of the whole page/);
const outside = await page.run("return [...document.querySelectorAll('.table')].filter((box) => !box.querySelector('.of-window') && !box.querySelector('.whole')).length");
assert.equal(outside, 0, "each table follows the window or says that it is of the whole page");
assert.match(await page.run("return document.querySelectorAll('#window code')[1].textContent"), /^ctanalyze cpu --begin /, "the rows of the map");
await act("document.querySelector('#measures button[aria-label=\"show slowest request\"]').click()");
assert.match(await page.run("return location.hash"), /&m=slowest$/);
await act("document.querySelector('#worst button').click()");
assert.equal(await page.run("return document.documentElement.dataset.window.split(' ').map(Number).reduce((a, b) => b - a)"), 1);
await act("document.querySelector('nav a').click()");
assert.match(await page.run("return location.hash"), /^#t=/, "a link keeps the window");
await act("document.querySelector('#map').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))");
assert.equal(await page.run("return document.querySelectorAll('.of-window').length"), 0);
assert.deepEqual(await shown(), data.home);
await act("location.hash = '#t=0.5,0.6&m=waiting'");
assert.ok(Math.abs((await shown())[0] - 5e8) <= stepNs && await page.run("return document.querySelector('#measures [aria-pressed=true]').textContent").then((text) => text.startsWith("threads waiting")));
await act("document.querySelector('#window button').click()");

// The button turns the dark theme on, or off, and then back.
const ground = () => page.run("return getComputedStyle(document.body).backgroundColor");
const turn = () => act("document.querySelector('#tools button').click()");
const atFirst = await ground();
await turn();
assert.notEqual(await ground(), atFirst);
await turn();
assert.equal(await ground(), atFirst);

// The slowest request: a link to its picture, and from there to its place in time.
const request = await page.run("return document.querySelector('#finding-request a').dataset.request");
assert.ok(await page.run("return document.querySelector('#finding-request a').hash === '#' + document.querySelector('figure.path').id"));
const began = await act(`const link = document.querySelector('#request-${request} a[data-t]'); link.click(); return Number(link.dataset.t)`);
const zoomed = await shown();
assert.ok(zoomed[0] <= began && zoomed[1] >= began && zoomed[1] - zoomed[0] < data.span / 10, "the link zooms to the request");
assert.equal(await page.run("return document.documentElement.dataset.exact"), "1", "spans one by one");

// A click tells a span's fields.
const told = await act("for (let x = 130; x < 1000; x += 7) { point('pointerdown', x, 40); point('pointerup', x, 40); const text = document.querySelector('#picked').innerText; if (/priority|handler|message/.test(text)) return text; } return ''");
assert.match(told, /took/);
assert.match(told, /UTC/);
await act("key('Escape')");
assert.equal(await page.run("return document.querySelector('#picked').hidden"), true);

// A search finds threads by name, and goes to the first.
const name = data.threads[0][2];
await act("search(arguments[0])", name);
assert.equal(Number(await page.run("return document.documentElement.dataset.matches")), data.threads.filter((thread) => thread[1] && `${thread[2]} ${thread[3]} ${thread[1]}`.toLowerCase().includes(name.toLowerCase())).length);
await act("document.querySelector('#search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))");
const atThread = await shown();
assert.ok(atThread[0] <= data.threads[0][5] && atThread[1] >= Math.min(data.span, data.threads[0][6]), "the thread's time is shown");
await act("search('no such thread')");
assert.equal(await page.run("return document.documentElement.dataset.matches"), "0");
await act("search('')");

// Tables sort by their numbers, and filter.
const column = "const table = document.querySelector('table[data-table=\"threads\"]'); const head = [...table.tHead.rows[0].cells].findIndex((cell) => /LONGEST/.test(cell.textContent)); const numbers = () => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => Number(row.cells[head].dataset.v));";
const falling = await page.run(column + "table.tHead.rows[0].cells[head].click(); return numbers()");
assert.ok(falling.length > 3);
assert.deepEqual(falling, falling.toSorted((a, b) => b - a));
assert.deepEqual(await page.run(column + "table.tHead.rows[0].cells[head].click(); return numbers()"), falling.toSorted((a, b) => a - b));
const all = await page.run("return document.querySelectorAll('table[data-table=\"threads\"] tbody tr').length");
const kept = await page.run("const box = document.querySelector('table[data-table=\"threads\"]').parentElement, input = box.previousElementSibling.querySelector('input'); input.value = 'node1'; input.dispatchEvent(new Event('input')); return [...box.querySelectorAll('tbody tr')].filter((row) => !row.hidden).map((row) => row.textContent)");
assert.ok(kept.length > 0 && kept.length < all && kept.every((text) => text.includes("node1")), "the filter keeps rows that match");

// The rows behind a finding: the first of them, the command that lists them, and the table of the page with them alone.
const turnByKey = async (key) => {
	await page.run("document.querySelector('#finding-busiest .rows').focus()");
	await page.key(key);
	return page.run("const rows = document.activeElement; return [rows.tagName, rows.getAttribute('aria-expanded'), !!document.getElementById(rows.getAttribute('aria-controls'))]");
};
assert.deepEqual([await turnByKey("\uE007"), await turnByKey(" ")], [["BUTTON", "true", true], ["BUTTON", "false", false]], "Enter and Space show and hide the rows");
await act("document.querySelector('#finding-busiest .rows').click()");
const behind = await page.run("const box = document.querySelector('#finding-busiest .behind'); return [box.querySelectorAll('tbody tr').length, box.querySelector('code').textContent, box.querySelector('tbody tr').cells[0].textContent]");
assert.deepEqual([behind[0], behind[1]], [5, `ctanalyze cpu ${timeline}`]);
assert.ok(execFileSync("ctanalyze", behind[1].split(" ").slice(1), { encoding: "utf8" }).includes(behind[2]), "the command lists the row");
await act("document.querySelector('#finding-busiest .behind button').click(); document.querySelector('#finding-busiest .rows').click()");
assert.equal(await page.run("return document.querySelectorAll('.behind').length"), 0);
assert.equal(await page.run("return [...document.querySelectorAll('#findings li')].filter((li) => li.dataset.kind !== 'lost' && !li.querySelector('.rows')).length"), 0, "each finding has rows");

// Every link within the page has a place; every width is filled, and none is wider than it.
assert.deepEqual(await page.run("return [...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id))"), []);
for (const width of [40, 130, 390, 1280, 1920]) {
	await page.width(width);
	await page.run(settle);
	if (width > 200) assert.ok(await page.run("return document.documentElement.scrollWidth <= innerWidth"), `at ${width} pixels`);
}
const colour = "return getComputedStyle(document.body).backgroundColor";
const before = await page.run(colour);
await page.run("document.querySelector('#tools button').click()");
assert.notEqual(await page.run(colour), before);
assert.deepEqual(await page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"), []);
assert.deepEqual(await page.log(), [], "nothing on the console");
await page.close();

// A page of a small part of the run, of which not all spans are read, has what the analyses count in that part.
const part = await open("part", true, "part");
const ofPart = (...words) => JSON.parse(execFileSync("ctanalyze", [...words, "--begin", "+0.7", "--end", "+1", "--limit", "0", "--format", "json", timeline], { encoding: "utf8" }));
const rowsOfPart = (name) => part.run(`return [...document.querySelector('table[data-table="${name}"]').tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)))`);
const busyAsked = rowsOf(ofPart("cpu"), "cpus").map((row) => row.busy_ns);
assert.deepEqual((await rowsOfPart("processors")).map((row) => row.find((value) => busyAsked.includes(value))), busyAsked);
const handlersInPart = await rowsOfPart("interrupts");
for (const one of rowsOf(ofPart("irq"), "interrupts").slice(0, 20)) assert.ok(handlersInPart.some((row) => row.includes(one.node) && row.includes(one.count) && row.includes(one.sum_ns)), `interrupt ${one.number} of ${one.node}`);
const callsInPart = dataOf(`${directory}/part.html`).bins.syscalls.rows.map(([name]) => name).sort();
assert.deepEqual(callsInPart, rowsOf(ofPart("syscalls", "--group", "syscall"), "syscalls").filter((row) => row.count > 0).map((row) => row.syscall).sort());
await part.close();

// Many pairs of nodes are a matrix; names from traces are no markup.
const many = await open("many", true, "many");
assert.ok(await many.run("return document.querySelector('#matrix canvas').height") > 100);
// On a small page, too, the labels of lanes tell nodes apart.
await many.width(390);
await many.run(`window.drawn = []; const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
	prototype.fillText = function (text, ...at) { if (this.canvas.id === "picture" && text && at[0] === 0) window.drawn.push(text); return fillText.call(this, text, ...at); };
	dispatchEvent(new Event("resize"))`);
await many.run(settle);
const labels = new Set(await many.run("return window.drawn"));
assert.equal(labels.size, 6, [...labels].join());
await many.width(1200);
assert.equal(await many.run("return document.querySelector('table[data-table=\"slow_pairs\"]').tBodies[0].rows.length"), 20);
assert.equal(await many.run("return window.attacked"), null);
assert.ok(JSON.stringify(dataOf(`${directory}/many.html`)).includes("attacked"), "the name is there");
assert.deepEqual(await many.log(), []);
await many.close();

// A sleep has the colour of what ended it, also one that cannot be interrupted.
const colours = await open("colours", true, "colours");
await colours.run("const input = document.querySelector('#search'); input.value = 'client'; input.dispatchEvent(new Event('input')); input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })); for (let i = 0; i < 5; i++) document.querySelector('#picture').dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }))");
await colours.run(settle);
const painted = await colours.run(`
	const canvas = document.querySelector('#picture'), style = getComputedStyle(document.documentElement);
	const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
	return ['disk', 'thread'].map((name) => {
		const hex = style.getPropertyValue('--' + name).trim(), rgb = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
		let count = 0;
		for (let i = 0; i < pixels.length; i += 4) count += rgb.every((value, k) => pixels[i + k] === value);
		return count;
	})`);
assert.ok(painted[0] === 0 && painted[1] > 100, `disk and thread have ${painted} pixels`);
// A disk has the name that sar tells, in the map and in windows as in the table.
const { disks, busy } = dataOf(`${directory}/colours.html`).bins;
assert.deepEqual([...new Set([...disks.rows, ...busy.rows].map((row) => row[1]))], ["vda"]);
assert.deepEqual(await colours.log(), []);
await colours.close();

// Against another run: what changed is said, and its map is below, on the same scale.
const against = await open("against", true, "against");
assert.ok(await against.run("return [...document.querySelectorAll('nav a')].some((link) => link.offsetWidth && link.hash === '#against')"), "the contents name it");
assert.match(await against.run("return document.querySelector('#against td, #against tbody th').textContent"), /^(requests|processes|processors|waiting)$/);
const pictured = (id) => against.run(`const map = document.querySelector('${id}'), pixels = map.getContext('2d').getImageData(map.width / 2, 0, map.width / 2, map.height).data;
	const seen = new Set();
	for (let i = 0; i < pixels.length; i += 4) seen.add(pixels.slice(i, i + 3).join());
	return map.hidden ? 0 : seen.size`);
for (const name of ["processors busy", "threads waiting for a processor", "slowest request"]) {
	await against.run(`document.querySelector('#measures button[aria-label="show ${name}"]').click()`);
	await against.run(settle);
	assert.ok(await pictured("#map") > 5 && await pictured("#map-before") > 5, `both maps of ${name}`);
	assert.match(await against.run("return document.querySelector('#before').textContent"), /other\.db, .*on the same scale/);
}
// Times of the other run that were not recorded are hatched, in its map and in its timeline below that of this run.
const coloured = (id, name, from) => against.run(`const canvas = document.querySelector('${id}'), hex = getComputedStyle(document.documentElement).getPropertyValue('--${name}').trim();
	const pixels = canvas.getContext('2d').getImageData(canvas.width / 4, ${from} * canvas.height, canvas.width / 2, canvas.height * (1 - ${from})).data, rgb = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	let count = 0;
	for (let i = 0; i < pixels.length; i += 4) count += rgb.every((value, k) => Math.abs(pixels[i + k] - value) < 30);
	return count`);
await against.run("document.querySelector('#measures button').click()");
await against.run(settle);
const lanesShown = dataOf(`${directory}/against.html`).before.rows.filter((row) => row[0] === "lane").length;
assert.ok(lanesShown > 0 && await coloured("#map-before", "hatch", 0) > 20, "the other run's map is hatched");
assert.ok(await coloured("#picture", "run", 0.4) > 200, "the other run's processors");
await against.run("document.querySelector('#measures button[aria-label=\"show bound of the clocks\"]').click()");
await against.run(settle);
assert.ok(await against.run("return document.querySelector('#map-before').hidden"));
assert.deepEqual((await against.log()).filter((entry) => !entry.message.includes("willReadFrequently")), []);
await against.close();

// A report of sar alone: the map has its measures, and the contents name no section that has nothing.
const sar = await open("sar", true, "sar");
assert.deepEqual(await sar.run("return [...document.querySelectorAll('#measures button')].map((button) => button.textContent).filter((text) => !text.includes('(sar)'))"), []);
assert.deepEqual(await sar.run("return [...document.querySelectorAll('nav a')].filter((link) => link.offsetWidth).map((link) => link.textContent).filter((text) => ['Requests', 'Messages'].includes(text))"), []);
assert.ok(await sar.run("return document.querySelector('#map').height") > 40);
assert.deepEqual(await sar.run("return [...document.querySelectorAll('main > section')].filter((one) => one.offsetHeight).map((one) => one.id)"), ["findings", "timeline", "user", "resources", "nodes"]);
assert.ok(await sar.run("return document.querySelectorAll('#missing li').length") > 3, "what was not recorded is said once, at the end");
// A report of captures alone: what they recorded is not hatched. One of user space alone: its events, tasks and periods have lanes.
const captures = await open("captures", true, "captures");
assert.deepEqual(await captures.run("return [...document.querySelectorAll('#measures button')].map((button) => button.textContent).filter((text) => text.includes('processors') || text.includes('sar'))"), []);
await captures.run("document.querySelector('#measures button[aria-label=\"show slowest request\"]').click()");
await captures.run(settle);
const ofCaptures = dataOf(`${directory}/captures.html`);
const gaps = ofCaptures.nodes.map((_, n) => ofCaptures.gaps.filter((gap) => gap[0] === n && gap[1] === -1).reduce((sum, gap) => sum + gap[3] - gap[2], 0) / ofCaptures.span);
assert.ok(gaps.some((share) => share < 0.5), `not recorded: ${gaps}`);
assert.deepEqual(await captures.log(), []);
await captures.close();
const user = await open("user", true, "user");
assert.deepEqual(await user.run("return [...document.querySelectorAll('main > section')].filter((one) => one.offsetHeight).map((one) => one.id)"), ["findings", "timeline", "user", "clocks", "nodes"]);
assert.match(await user.run("return document.querySelector('.legend').textContent"), /events.*task.*period of user space/);
await user.run(`document.querySelector("#map").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }))`);
await user.run(settle);
assert.deepEqual(await user.run(`return ["tasks", "periods"].map((name) => document.querySelector('table.of-window[data-table="' + name + '"] tbody tr').cells[1].textContent)`), ["2", "app:work_end"]);
await user.run(`window.drawn = []; const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
	prototype.fillText = function (text, ...at) { window.drawn.push(text); return fillText.call(this, text, ...at); };
	dispatchEvent(new Event("resize"))`);
await user.run(settle);
assert.equal(await user.run("return window.drawn.filter((text) => text === 'app').length"), 6, "threads without a name are called by the provider of their events");
assert.deepEqual(await user.log(), []);
await user.close();
assert.deepEqual(await sar.log(), []);
await sar.close();

// In a report of a hundred nodes, too, the percentiles of pairs and disks follow the window.
const hundred = await open("hundred", true, "hundred");
const [hundredFrom, hundredTo] = /^#t=([\d.]+),([\d.]+)&/.exec(await hundred.run(`const map = document.querySelector("#map");
	for (let i = 0; i < 30; i++) map.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", shiftKey: true })); return location.hash`)).slice(1);
await hundred.run(settle);
const ofHundred = (analysis, table, ...words) => rowsOf(JSON.parse(execFileSync("ctanalyze", [analysis, ...words, "--begin", `+${hundredFrom}`, "--end", `+${(Number(hundredTo) - 1e-9).toFixed(9)}`,
	"--limit", "0", "--format", "json", `${directory}/hundred.db`], { encoding: "utf8", maxBuffer: 1 << 26 })), table);
const shownOfHundred = (name, within = "") => hundred.run(`const table = document.querySelector('${within}table.of-window[data-table="${name}"]');
	return [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)))`);
const pairsOfHundred = ofHundred("messages", "pairs"), pairsShown = await shownOfHundred("slow_pairs");
assert.equal(pairsShown.length, pairsOfHundred.length);
assert.deepEqual(pairsShown.map((row) => row[4]), pairsShown.map((row) => row[4]).toSorted((a, b) => b - a), "the longest medians are first");
assert.equal(await hundred.run("return [...document.querySelectorAll('.paths')].some((one) => one.offsetHeight > 0) === [...document.querySelectorAll('figure.path')].some((one) => one.offsetHeight > 0)"), true, "no heading without a path");
for (const pair of pairsOfHundred) {
	const row = pairsShown.find(([a, b]) => a === pair.from && b === pair.to);
	for (const [at, value] of [[4, pair.p50_ns], [6, pair.p99_ns]]) assert.ok(Math.abs(Math.log2(row[at] / value)) < 0.13, `${pair.from} to ${pair.to}: ${row[at]}, not ${value}`);
}
const disksShown = await shownOfHundred("disks");
for (const row of disksShown) assert.ok(row[5] >= row[4] / 2 && row[7] >= row[5] && row[8] >= row[7], `percentiles of a disk: ${row}`);
assert.equal(disksShown.length, 60);
// So are the parts and the reasons of thousands of requests, in a window at the end of which none is under way.
const { bins: { stepNs: hundredStep, steps: hundredSteps } } = dataOf(`${directory}/hundred.html`);
const [, aRequest] = (await shownOfHundred("slowest", "#requests "))[0], [[beganAt]] = sqlRows(`${directory}/hundred.db`, `SELECT begin_ns FROM request WHERE id = ${aRequest}`);
const origin = beganAt - Number(await hundred.run("return document.querySelector('#requests table.of-window[data-table=\"slowest\"] a').dataset.t"));
const isCut = new Uint8Array(hundredSteps + 1), under = sqlRows(`${directory}/hundred.db`, `SELECT begin_ns - ${origin}, responded_ns - ${origin} FROM request`);
for (const [from, to] of under) for (let step = Math.ceil(from / hundredStep); step * hundredStep <= to; step++) isCut[step] = 1;
assert.ok(under.length > 20000, `${under.length} requests`);
const lastStep = isCut.indexOf(0, Math.floor(hundredSteps * 0.7)), times = [Math.floor(hundredSteps / 3) * hundredStep / 1e9, lastStep * hundredStep / 1e9];
await hundred.run(`location.hash = "#t=${times}"`);
await hundred.run(settle);
const scopeOfHundred = ["--begin", `+${times[0].toFixed(9)}`, "--end", `+${(times[1] - 1e-9).toFixed(9)}`];
checkParts(await shownOfHundred("lost"), rowsOf(ofAnalysis(`${directory}/hundred.db`, "why", "--table", "parts", ...scopeOfHundred), "parts"));
const reasons = rowsOf(ofAnalysis(`${directory}/hundred.db`, "why", "--table", "slow", ...scopeOfHundred), "slow");
const reasonsShown = await hundred.run("return [...document.querySelectorAll('ul.why.of-window li')].map((row) => [row.textContent, Number(row.querySelector('b').dataset.v)])");
assert.equal(reasonsShown.length, 8);
reasonsShown.forEach(([text, more], i) => assert.ok(text.includes(reasons[i].why) && text.includes(`the slowest ${reasons[i].slow} of ${reasons[i].requests} `) && Math.abs(more - reasons[i].more_ns) < 1, `${text}: ${reasons[i].why}`));
const counted = reasons.reduce((all, row) => all + row.requests, 0);
assert.ok(counted > 6000);
assert.ok((await hundred.run("return document.querySelector('p.why.of-window').textContent")).startsWith(`The paths of all ${counted} requests`));
assert.deepEqual(await hundred.log(), []);
await hundred.close();

// With too many requests the page follows the slowest, and one of several others.
const crowd = await open("crowd", true, "crowd");
await crowd.run(`location.hash = "#t=0,1000"`);
await crowd.run(settle);
const crowdReasons = rowsOf(ofAnalysis(`${directory}/crowd.db`, "why", "--table", "slow"), "slow");
const crowdShown = await crowd.run("return [document.querySelector('p.why.of-window').textContent, document.querySelector('ul.why.of-window li').textContent, Number(document.querySelector('ul.why.of-window b').dataset.v)]");
const [, followedOfCrowd, allOfCrowd, every] = /^The paths of (\d+) of the (\d+) requests .* one in (\d+) of the others/.exec(crowdShown[0]).map(Number);
assert.equal(allOfCrowd, crowdReasons.reduce((all, row) => all + row.requests, 0));
assert.ok(Math.abs(followedOfCrowd - (allOfCrowd * 0.01 + allOfCrowd * 0.99 / every)) < 9, crowdShown[0]);
const crowdReason = crowdReasons.find((row) => crowdShown[1].includes(row.why));
assert.ok(crowdReason && Math.abs(crowdShown[2] / crowdReason.more_ns - 1) < 0.05, `${crowdShown}: ${JSON.stringify(crowdReasons)}`);
assert.deepEqual(await crowd.log(), []);
await crowd.close();

const still = await open("without", false);
assert.equal(await still.run("return document.querySelector('#view').childElementCount"), 0, "scripts are off");
assert.ok(await still.run("return document.querySelectorAll('figure.path figcaption').length") >= 8);
assert.equal(await still.run("return document.querySelectorAll('#findings li').length"), 6);
await still.close();
console.log(`${data.lanes.length} lanes zoom, ${events} events, ${messages} messages`);
closeBrowser();
