// SPDX-License-Identifier: GPL-3.0-or-later
//
// node perfetto_processor.mjs DEFINITIONS RUN.db TRACE JSON PROCESSOR: Perfetto's trace
// processor reads both forms without a complaint, and finds in them what protoc does in
// the first.
import { loadProto, want } from './perfetto_load.mjs'
import { openTrace } from './trace_processor.mjs'

const [definitions, , protoFile, jsonFile, processor] = process.argv.slice(2)
const model = await loadProto(protoFile, definitions)

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

// The process of a track: that of its thread, or its own.
const placed = `WITH place AS (
  SELECT t.id, p.name AS node, h.name AS thread FROM thread_track AS t
  JOIN thread AS h USING (utid) JOIN process AS p USING (upid)
  UNION ALL SELECT t.id, p.name, NULL FROM process_track AS t JOIN process AS p USING (upid)
  UNION ALL SELECT t.id, p.name, NULL FROM process_counter_track AS t
  JOIN process AS p USING (upid))`

async function compare(form, file, origin) {
  const trace = await openTrace(processor, file)
  const at = ts => BigInt(ts) - origin
  const complaints = await trace.query(
    `SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0`)
  want(complaints.length === 0, form, 'trace processor complains:',
    complaints.map(x => `${x.name} ${x.value}`).join(', '))
  const said = []
  said.push(same('nodes', (await trace.query(
    'SELECT pid, name FROM process WHERE pid <> 0')).map(x => line(x.pid, x.name)),
  [...model.nodes].map(x => line(...x))))
  // Instants of one time are laid on one another.
  said.push(same('slices', (await trace.query(`${placed}
    SELECT node, ts, dur, s.name, category, iif(dur, depth, 0) AS depth FROM slice AS s
    JOIN place ON place.id = track_id WHERE category <> 'run' AND category <> 'clock'`))
    .map(x => line(x.node, at(x.ts), x.dur, x.name, x.category, x.depth)),
  model.slices.filter(x => !/^(run|clock)$/.test(x.category))
    .map(x => line(x.node, x.begin, x.end - x.begin, x.name, x.category, 0))))
  said.push(same('arrows', (await trace.query(`${placed}
    SELECT a.ts AS sent, b.ts AS received, p.node AS sender, q.node AS receiver FROM flow
    JOIN slice AS a ON a.id = slice_out JOIN slice AS b ON b.id = slice_in
    JOIN place AS p ON p.id = a.track_id JOIN place AS q ON q.id = b.track_id`))
    .map(x => line(at(x.sent), at(x.received), x.sender, x.receiver)),
  model.arrows.map(x => line(x.from.begin, x.to.begin, x.from.node, x.to.node))))
  said.push(same('values', (await trace.query(`${placed}
    SELECT node, ts, value FROM counter JOIN place ON place.id = track_id`))
    .map(x => line(x.node, at(x.ts), digits(x.value))),
  model.counters.map(x => line(x.node, x.at, digits(x.value)))))
  console.log(`${form}: ${said.join(', ')}`)
  return trace
}

const proto = await compare('proto', protoFile, model.origin)
// Threads have their names, and their slices; JSON's rows are all threads.
const threads = await proto.query(`SELECT DISTINCT p.name AS node, h.name FROM slice AS s
  JOIN thread_track AS t ON t.id = s.track_id JOIN thread AS h USING (utid)
  JOIN process AS p USING (upid) WHERE category = 'state'`)
console.log(same('threads', threads.map(x => line(x.node, x.name)),
  [...new Set(model.slices.filter(x => x.category === 'state').map(x => line(x.node, x.row)))]))
proto.close()
const json = await compare('json', jsonFile, 0n)
json.close()
process.exit(0) // its workers do not end
