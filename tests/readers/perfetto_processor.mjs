// SPDX-License-Identifier: GPL-3.0-or-later
//
// node perfetto_processor.mjs RUN.db TRACE JSON PROCESSOR [BEGIN END NODE...]: Perfetto's
// trace processor reads both forms without a complaint, and finds the same in them. Of the
// kernel's events in its own form it makes what the timeline says.
import { execFileSync } from 'node:child_process'
import { ask, loadJson, want } from './perfetto_load.mjs'
import { openTrace } from './trace_processor.mjs'

function same(what, got, wanted) {
  got.sort()
  wanted.sort()
  for (let i = 0; i < Math.max(got.length, wanted.length); i++)
    want(got[i] === wanted[i], `${what}: ${got.length}, want ${wanted.length}; got`, got[i],
      'want', wanted[i])
  return `${what} ${got.length}`
}

// Trace processor reads JSON's 1.36 as 1.3599999999999999.
const digits = value => Number(value).toPrecision(14)

const line = (...words) => words.map(String).join('|')

// A track's node, that of its machine or in JSON its process, and its row. In the one
// threads have a row of another name, in the other counters, with their unit.
const placed = { proto: `WITH node AS (SELECT t.machine_id, t.name FROM track AS t
  WHERE t.type = 'global_merged_track_event' AND t.parent_id IS NULL AND t.name NOT LIKE 'network of %'),
place AS (SELECT t.id, iif(p.name LIKE 'network of %', substr(p.name, 12), n.name) AS node,
  iif(h.id IS NULL AND o.id IS NULL, iif(g.name = 'samples', p.name || ' ', '') || t.name, '') AS row
  FROM track AS t LEFT JOIN track AS p ON p.id = t.parent_id LEFT JOIN track AS g ON g.id = p.parent_id
  LEFT JOIN thread_track AS h ON h.id = t.id LEFT JOIN thread_track AS o ON o.id = t.parent_id
  JOIN node AS n ON n.machine_id = t.machine_id)`,
json: `WITH place AS (
  SELECT t.id, p.name AS node, h.name AS row FROM thread_track AS t
  JOIN thread AS h USING (utid) JOIN process AS p USING (upid)
  UNION ALL SELECT t.id, p.name, t.name FROM process_track AS t JOIN process AS p USING (upid)
  UNION ALL SELECT t.id, p.name, '' FROM process_counter_track AS t
  JOIN process AS p USING (upid))` }

const lineOf = ({ node, row, begin, end, name, category, values }) =>
  line(node, row, begin, end - begin, name, category, 0,
    ...Object.entries(values).map(x => x.join('=')).sort())

async function compare(form, file, model, origin) {
  const trace = await openTrace(processor, file), place = placed[form]
  const at = ts => BigInt(ts) - origin
  const complaints = await trace.query(
    `SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0`)
  want(complaints.length === 0, form, 'trace processor complains:',
    complaints.map(x => `${x.name} ${x.value}`).join(', '))
  const values = new Map()
  for (const x of await trace.query(`SELECT arg_set_id, key, display_value FROM args
    WHERE key LIKE '${form === 'json' ? 'args' : 'debug'}.%'`)) {
    const list = values.get(x.arg_set_id) ?? []
    values.set(x.arg_set_id, [...list, `${x.key.slice(x.key.indexOf('.') + 1)}=${x.display_value}`])
  }
  const said = []
  if (form === 'json')
    said.push(same('nodes', (await trace.query(
      'SELECT pid, name FROM process WHERE pid <> 0')).map(x => line(x.pid, x.name)),
    [...model.nodes].map(x => line(...x))))
  // Instants of one time are laid on one another.
  said.push(same('slices', (await trace.query(`${place}
    SELECT node, row, ts, dur, s.name, category, iif(dur, depth, 0) AS depth, arg_set_id
    FROM slice AS s JOIN place ON place.id = track_id
    WHERE category NOT IN ('run', 'clock') AND (category NOT IN ('irq') OR ${form === 'json'})`))
    .map(x => line(x.node, x.row, at(x.ts), x.dur, x.name, x.category, x.depth,
      ...(values.get(x.arg_set_id) ?? []).sort())),
  model.slices.filter(x => !/^(run|clock)$/.test(x.category)).map(lineOf)))
  said.push(same('arrows', (await trace.query(`${place}
    SELECT a.ts AS sent, b.ts AS received, p.node AS sender, q.node AS receiver FROM flow
    JOIN slice AS a ON a.id = slice_out JOIN slice AS b ON b.id = slice_in
    JOIN place AS p ON p.id = a.track_id JOIN place AS q ON q.id = b.track_id`))
    .map(x => line(at(x.sent), at(x.received), x.sender, x.receiver)),
  model.arrows.map(x => line(x.from.begin, x.to.begin, x.from.node, x.to.node))))
  said.push(same('values', (await trace.query(`${place}
    SELECT node, row, ts, value FROM counter JOIN place ON place.id = track_id
    JOIN track AS t ON t.id = track_id
    WHERE t.type NOT IN ('net_transmit', 'net_receive', 'cpu_frequency')`))
    .map(x => line(x.node, x.row, at(x.ts), digits(x.value))),
  model.counters.map(x => line(x.node, x.name, x.at, digits(x.value)))))
  console.log(`${form}: ${said.join(', ')}`)
  return trace
}

const [timeline, protoFile, jsonFile, processor, begin, end, ...chosen] = process.argv.slice(2)
const model = loadJson(jsonFile)
// Perfetto's own form has the kernel's events in place of these slices and counters.
const isNative = x => ['cpu', 'recorded', 'irq', 'softirq'].includes(x.category) ||
  (x.category === 'state' && !x.name.startsWith('Blocked'))
const proto = await compare('proto', protoFile, { ...model,
  slices: model.slices.filter(x => !isNative(x)).map(x => x.category === 'state' ? { ...x, row: '' }
    : x.category === 'syscall' ? { ...x, row: '', name: `sys_${x.name}` } : x),
  counters: model.counters.filter(x => !/ frequency$/.test(x.name)) }, model.origin)
const from = begin ?? '0', to = end ?? '9000000000000000000'
const nodes = [...model.nodes.values()]
const names = nodes.map(x => `'${x}'`).join()
const clipped = table => `(SELECT s.*, n.name AS node_name, max(s.begin_ns, ?1 + ${from}) AS a,
  min(s.end_ns, ?1 + ${to}) AS b FROM ${table} AS s JOIN node AS n ON n.id = s.node
  WHERE n.name IN (${names}) AND s.begin_ns < ?1 + ${to} AND s.end_ns > ?1 + ${from})`
const sql = text => ask(timeline, model.origin, text)
const machine = id => nodes[id]

// Machines are the nodes, with their kernels.
console.log(same('machines', (await proto.query('SELECT raw_id, release FROM machine'))
  .map(x => line(machine(x.raw_id), x.release)),
sql(`SELECT name, kernel FROM node WHERE name IN (${names})`).map(x => line(x.name, x.kernel))))

// Time for which each thread ran and waited for a processor, to the nanosecond. Idle processors have
// no states, and what was not recorded is a thread of its own.
const kinds = { Running: 'running', R: 'runnable', 'R+': 'runnable' }
const sums = new Map()
for (const x of await proto.query(`SELECT m.raw_id, h.tid, s.state, sum(s.dur) AS ns,
  min(s.dur) AS least FROM thread_state AS s JOIN thread AS h USING (utid)
  JOIN machine AS m ON m.id = h.machine_id WHERE s.state IN ('Running', 'R', 'R+')
  AND h.name <> 'not recorded' GROUP BY 1, 2, 3`)) {
  want(x.least >= 0, 'thread', x.tid, 'has a state without an end')
  const key = line(machine(x.raw_id), x.tid, kinds[x.state])
  sums.set(key, (sums.get(key) ?? 0n) + BigInt(x.ns))
}
console.log(same('sums of threads', [...sums].filter(x => x[1]).map(x => line(...x)),
  sql(`SELECT node_name, tid, state, sum(b - a) AS ns FROM ${clipped('thread_state')}
    WHERE state_code < 2 AND tid > 0 GROUP BY 1, 2, 3`)
    .map(x => line(x.node_name, x.tid, x.state, x.ns))))

// Threads that ran on each processor, with times. A thread that never got one ran for no time.
console.log(same('runs', (await proto.query(`SELECT m.raw_id, c.cpu, s.ts, s.dur, h.tid FROM sched AS s
  JOIN cpu AS c USING (ucpu) JOIN thread AS h USING (utid)
  JOIN machine AS m ON m.id = h.machine_id WHERE h.name <> 'not recorded' AND s.dur > 0`))
  .map(x => line(machine(x.raw_id), x.cpu, BigInt(x.ts) - model.origin, x.dur, x.tid)),
sql(`SELECT node_name, cpu, a - ?1 AS at, b - a AS ns, tid FROM ${clipped('thread_state')}
  WHERE state_code = 1`).map(x => line(x.node_name, x.cpu, x.at, x.ns, x.tid))))

for (const [kind, type] of [['irq', 'cpu_irq'], ['softirq', 'cpu_softirq']])
  console.log(same(kind, (await proto.query(`SELECT m.raw_id, s.ts, s.dur FROM slice AS s
    JOIN track AS t ON t.id = s.track_id JOIN machine AS m ON m.id = t.machine_id
    WHERE t.type = '${type}'`))
    .map(x => line(machine(x.raw_id), BigInt(x.ts) - model.origin, x.dur)),
  sql(`SELECT node_name, a - ?1 AS at, b - a AS ns FROM ${clipped('irq')} WHERE kind = '${kind}'`)
    .map(x => line(x.node_name, x.at, x.ns))))

// Threads are of their processes, and have slices where they waited.
console.log(same('waits', (await proto.query(`SELECT m.raw_id, h.tid, count(*) AS n FROM slice AS s
  JOIN thread_track AS t ON t.id = s.track_id JOIN thread AS h USING (utid)
  JOIN machine AS m ON m.id = h.machine_id WHERE s.category = 'state' GROUP BY 1, 2`))
  .map(x => line(machine(x.raw_id), x.tid, x.n)),
sql(`SELECT node_name, tid, count(*) AS n FROM ${clipped('thread_state')}
  WHERE state_code IN (2, 3, 4) AND tid > 0 GROUP BY 1, 2`)
  .map(x => line(x.node_name, x.tid, x.n))))
console.log(same('processes', (await proto.query(`SELECT DISTINCT m.raw_id, h.tid, p.pid FROM thread AS h
  JOIN process AS p USING (upid) JOIN machine AS m ON m.id = h.machine_id
  WHERE h.tid > 0 AND p.name IS NOT NULL`)).map(x => line(machine(x.raw_id), x.tid, x.pid)),
sql(`SELECT DISTINCT n.name AS node, t.tid, iif(p.pid > 0, p.pid, t.tid) AS pid FROM thread AS t
  JOIN node AS n ON n.id = t.node LEFT JOIN process AS p ON p.id = t.process
  WHERE t.tid > 0 AND n.name IN (${names}) AND coalesce(t.begin_ns, 0) <= ?1 + ${to}
  AND coalesce(t.end_ns, ?1 + ${to}) >= ?1 + ${from}`).map(x => line(x.node, x.tid, x.pid))))

// Critical paths are those of ctanalyze, cut to the time that was exported.
const paths = new Map()
for (const x of await proto.query(`SELECT t.name AS track, s.ts, s.dur,
  extract_arg(s.arg_set_id, 'debug.state') AS state, extract_arg(s.arg_set_id, 'debug.node') AS node
  FROM slice AS s JOIN track AS t ON t.id = s.track_id WHERE s.category = 'path' ORDER BY 1, 2`)) {
  const id = /path of request (\d+) /.exec(x.track)[1]
  paths.set(id, [...paths.get(id) ?? [], line(BigInt(x.ts) - model.origin, x.dur, x.state, x.node)])
}
for (const [id, steps] of paths) {
  const rows = execFileSync('ctanalyze', ['critical-path', '--request', id, '--table', 'path', '--limit', '0',
    '--format', 'csv', '-q', timeline], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const wanted = rows.trim().split(/\r?\n/).slice(1).map(row => {
    const [at, took, , state, node] = row.split(',')
    const a = BigInt(at) - model.origin, b = a + BigInt(took)
    const cut = [a < BigInt(from) ? BigInt(from) : a, b > BigInt(to) ? BigInt(to) : b]
    return [cut[1] - cut[0], line(cut[0], cut[1] - cut[0], state, node)]
  }).filter(([took]) => took > 0n).map(([, step]) => step)
  same(`path of request ${id}`, steps, wanted)
}
const [{ n }] = sql(`SELECT count(*) AS n FROM request AS r JOIN node AS n ON n.id = r.client
  WHERE n.name IN (${names}) AND r.begin_ns <= ?1 + ${to} AND r.end_ns >= ?1 + ${from}
  AND EXISTS (SELECT 1 FROM thread_state)`)
want(paths.size === Math.min(10, Number(n)), paths.size, 'critical paths of', n, 'requests')
console.log(`critical paths ${paths.size}`)

// The standard library answers.
for (const [module, table] of [['sched.runnable', 'sched_previous_runnable_on_thread'],
  ['sched.time_in_state', 'sched_percentage_of_time_in_state'],
  ['linux.cpu.utilization.system', 'cpu_utilization_per_second'],
  ['linux.cpu.utilization.process', 'cpu_cycles_per_process'],
  ['linux.block_io', 'linux_active_block_io_operations_by_device'],
  ['linux.irqs', 'linux_hard_irqs']]) {
  await proto.query(`INCLUDE PERFETTO MODULE ${module}`)
  const [{ n }] = await proto.query(`SELECT count(*) AS n FROM ${table}`)
  want(n > 0 || begin !== undefined, module, 'answers nothing')
}
proto.close()
const json = await compare('json', jsonFile,
  { ...model, counters: model.counters.map(x => ({ ...x, name: '' })) }, 0n)
json.close()
process.exit(0) // its workers do not end
