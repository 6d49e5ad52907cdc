// SPDX-License-Identifier: GPL-3.0-or-later
//
// node perfetto.mjs RUN.db JSON [BEGIN END NODE...]: does a trace of Chrome's form hold
// what the timeline does? BEGIN and END are nanoseconds since its first instant; NODE are
// the chosen ones. What is expected is found anew, from the tables. perfetto_processor.mjs
// compares Perfetto's own form with it.
import { ask, loadJson, want } from './perfetto_load.mjs'

const [timeline, jsonFile, begin, end, ...chosen] = process.argv.slice(2)

const order = (...keys) => (a, b) => {
  for (const key of keys)
    if (a[key] !== b[key])
      return a[key] < b[key] ? -1 : 1
  return 0
}

function same(what, got, wanted) {
  const a = got.map(x => JSON.stringify(x)).sort()
  const b = wanted.map(x => JSON.stringify(x)).sort()
  for (let i = 0; i < Math.max(a.length, b.length); i++)
    want(a[i] === b[i], `${what}: ${a.length}, want ${b.length}; got`, a[i], 'want', b[i])
  counts[what] = a.length
}

const counts = {}

function group(list, key) {
  const groups = new Map()
  for (const x of list)
    groups.has(key(x)) ? groups.get(key(x)).push(x) : groups.set(key(x), [x])
  return groups
}

// No two slices of a row overlap, so they nest; instants may lie anywhere.
function checkRows(slices) {
  const rows = group(slices.filter(x => !x.instant), x => `${x.node} ${x.track}`)
  for (const [row, list] of rows) {
    list.sort(order('begin', 'end'))
    for (let i = 0; i < list.length; i++) {
      want(list[i].begin <= list[i].end, row, 'a slice ends before it begins')
      want(!i || list[i - 1].end <= list[i].begin, row, 'slices overlap at', list[i].begin)
    }
  }
}

const json = loadJson(jsonFile)
checkRows(json.slices)

const sql = text => ask(timeline, json.origin, text)
const [span] = sql(`SELECT min(least) - ?1 AS first, max(most) - ?1 AS last FROM (
  SELECT min(ts_ns) AS least, max(ts_ns) AS most FROM event
  UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample
  UNION ALL SELECT min(send_ns), max(recv_ns) FROM message
  UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)), max(end_ns) FROM invocation)`)
want(span.first === 0, 'times do not count from the first instant')
const from = Math.max(Number(begin ?? 0), 0), to = Math.min(Number(end ?? span.last), span.last)
const isInside = at => at >= from && at <= to
const nodes = sql('SELECT id, name FROM node ORDER BY id')
const isChosen = name => !chosen.length || chosen.includes(name)
same('nodes', [...json.nodes], nodes.map((x, i) => [String(i + 1), x.name])
  .filter(x => isChosen(x[1])))
const of = category => json.slices.filter(x => x.category === category)

// Messages: an arrow each that has both ends here, and instants for all ends.
const messages = sql(`SELECT m.id, s.name AS "from", r.name AS "to", send_ns - ?1 AS sent,
  recv_ns - ?1 AS received FROM message AS m JOIN node AS s ON s.id = src_node
  JOIN node AS r ON r.id = dst_node`)
const sentHere = x => isChosen(x.from) && isInside(x.sent)
const receivedHere = x => isChosen(x.to) && isInside(x.received)
const forward = ([a, b]) => a.begin <= b.begin ? [a, b] : [b, a]
same('arrows', json.arrows.map(({ from: a, to: b }) => [
  { id: a.values.message, node: a.node, begin: a.begin },
  { id: b.values.message, node: b.node, begin: b.begin }]),
messages.filter(x => sentHere(x) && receivedHere(x)).map(x => forward([
  { id: x.id, node: x.from, begin: x.sent }, { id: x.id, node: x.to, begin: x.received }])))
same('ends of messages', of('message').map(x => [x.values.message, x.node, x.row, x.begin]),
  messages.flatMap(x => [
    ...sentHere(x) ? [[x.id, x.from, 'messages sent', x.sent]] : [],
    ...receivedHere(x) ? [[x.id, x.to, 'messages received', x.received]] : []]))

// Samples: each value from where the time that it is of begins.
same('samples', json.counters.filter(x => !/true time|frequency$/.test(x.name)),
  sql(`SELECT n.name AS node, m.activity || ' ' || coalesce(i.name || ' ', '') || m.name AS name,
    ts_ns - coalesce(interval_ns, 0) - ?1 AS at, ts_ns - ?1 AS until, value FROM sample AS s
    JOIN node AS n ON n.id = s.node JOIN metric AS m ON m.id = metric
    LEFT JOIN metric_item AS i ON i.id = item WHERE value IS NOT NULL`)
    .filter(x => isChosen(x.node) && x.at <= to && x.until >= from)
    .map(({ node, name, at, value }) => ({ node, name, at: Math.max(at, from), value })))

// Is there a class, and with this field?
const classes = new Set(sql('SELECT DISTINCT name FROM event_class').map(x => x.name))
const events = (name, fields = []) => !classes.has(name) ? [] :
  sql(`SELECT e.id, n.name AS node, e.cpu, e.tid, e.ts_ns - ?1 AS at
    ${fields.map(x => `, x."${x}"`).join('')}
    FROM "${name}" AS x JOIN event AS e ON e.id = x.id JOIN node AS n ON n.id = e.node`)
    .filter(x => isChosen(x.node) && isInside(x.at)).map(x => ({ ...x, is: name }))

// Processors: whoever a switch brings in runs up to the next one, and the last one of
// all for as long as is known. What was cut at the begin ran before any switch tells it.
const switches = group(events('sched_switch', ['prev_tid', 'next_tid', 'next_comm']),
  x => `${x.node} ${x.cpu}`)
const ran = []
for (const list of switches.values()) {
  list.sort(order('id'))
  list.forEach((x, i) => x.next_tid !== 0 && ran.push({ node: x.node, row: `CPU ${x.cpu}`,
    begin: x.at, end: list[i + 1]?.at ?? 'end', tid: x.next_tid }))
}
const whole = x => !/^begin/.test(x.values.cut ?? '')
same('runs', of('cpu').filter(whole).map(({ node, row, begin, end, values }) =>
  ({ node, row, begin, end: values.cut ?? end, tid: values.tid })), ran)
for (const x of of('cpu'))
  want(isInside(x.begin) && isInside(x.end), 'a run outside of the time asked for')
for (const x of of('cpu').filter(x => !whole(x)))
  want(switches.get(`${x.node} ${x.row.slice(4)}`)?.[0].prev_tid === x.values.tid,
    'a run before any switch that the first switch does not end')
const running = of('state').filter(x => x.name === 'Running')
same('running', running.map(x => [x.node, x.begin, x.end, x.values.cpu]),
  of('cpu').map(x => [x.node, x.begin, x.end, Number(x.row.slice(4))]))

// Pairs of events on one processor, or of one thread, that nothing else comes between.
function pairs(list, key) {
  const open = new Map(), found = []
  for (const x of list.sort(order('id'))) {
    const begun = open.get(key(x))
    if (x.isEntry) {
      open.set(key(x), x)
    } else {
      if (begun)
        found.push([begun, x])
      open.delete(key(x))
    }
  }
  return found
}
const ends = (entry, exit) => [...entry.map(x => ({ ...x, isEntry: true })), ...exit]
const drawn = (category, values) => of(category).filter(x => !x.values.cut).map(x =>
  ({ node: x.node, begin: x.begin, end: x.end, ...values(x) }))
const spans = (list, values) => list.map(([a, b]) =>
  ({ node: a.node, begin: a.at, end: b.at, ...values(a, b) }))
for (const [category, entry, exit, number] of [
  ['irq', 'irq_handler_entry', 'irq_handler_exit', 'irq'],
  ['softirq', 'irq_softirq_entry', 'irq_softirq_exit', 'vec']])
  same(category, drawn(category, x => ({ row: x.row, number: x.values.number })),
    spans(pairs(ends(events(entry, [number]), events(exit)), x => `${x.node} ${x.cpu}`), x =>
      ({ row: `CPU ${x.cpu} ${category === 'irq' ? 'interrupts' : 'softirqs'}`,
        number: x[number] })))

const calls = [...classes].filter(x => /^syscall_(entry|exit)_/.test(x)).flatMap(x =>
  events(x, x.startsWith('syscall_exit_') ? ['ret'] : [])
    .map(y => ({ ...y, isEntry: x.startsWith('syscall_entry_') })))
same('syscall', drawn('syscall', x => ({ name: x.name, ret: x.values.return,
  events: [x.values['entry event'], x.values['exit event']] })),
spans(pairs(calls, x => `${x.node} ${x.tid}`).filter(([a, b]) => a.is.slice(14) === b.is.slice(13)),
  (a, b) => ({ name: a.is.slice(14), ret: b.ret, events: [a.id, b.id] })))
const requests = ends(events('block_rq_issue', ['dev', 'sector']),
  events('block_rq_complete', ['dev', 'sector']))
same('disk', of('disk').filter(x => !x.values.cut).map(x =>
  ({ node: x.node, begin: x.begin + (x.values['queued ns'] ?? 0), end: x.end })),
spans(pairs(requests, x => `${x.node} ${x.dev} ${x.sector}`), () => ({})))

// The bounds of the axis: the truth stated at each time is within what is drawn.
const bounds = sql(`SELECT n.name AS node, s.name, low_ns, high_ns, row_number() OVER w AS i,
  count(*) OVER (PARTITION BY b.source) AS bounds FROM clock_bound AS b
  JOIN source AS s ON s.id = b.source JOIN node AS n ON n.id = s.node
  WHERE low_ns IS NOT NULL AND high_ns IS NOT NULL
  WINDOW w AS (PARTITION BY b.source ORDER BY b.local_ns)`).filter(x => isChosen(x.node))
if (begin === undefined)
  for (const [side, field, holds] of [['earliest', 'low_ns', (a, b) => a <= b],
    ['latest', 'high_ns', (a, b) => a >= b]])
    for (const x of bounds) {
      const values = json.counters.filter(y => y.name === `${x.name} true time, ${side}`)
      want(values.length === x.bounds, x.name, 'bounds:', values.length, 'want', x.bounds)
      want(holds(values[x.i - 1].value, x[field]), x.name, side, 'is too narrow')
    }
console.log(Object.entries(counts).map(x => x.join(' ')).join(', '))
