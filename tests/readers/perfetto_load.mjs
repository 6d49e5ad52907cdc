// SPDX-License-Identifier: GPL-3.0-or-later
//
// A trace of Chrome's form as a model: times are nanoseconds since `origin`, a BigInt.
// { nodes: Map(number, name), slices: [{ node, row, begin, end, name, category, values,
// instant }], counters: [{ node, name, at, value }], arrows: [{ from, to }] of slices }.
// A row is one line of slices.
import fs from 'node:fs'
import { execFileSync } from 'node:child_process'

export function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

function arrowsOf(ends) {
  return [...ends].map(([flow, list]) => {
    want(list.length === 2, 'arrow', flow, 'has', list.length, 'ends, want 2')
    list.sort((a, b) => a.slice.begin - b.slice.begin)
    const [first, last] = list
    want(!first.last && last.last, 'arrow', flow, 'ends before it begins')
    return { from: first.slice, to: last.slice }
  })
}

// Chrome's form: a row is (pid, tid).
export function loadJson(file) {
  const trace = JSON.parse(fs.readFileSync(file, 'utf8'))
  const model = { nodes: new Map(), slices: [], counters: [],
    origin: BigInt(trace.otherData.origin_ns) }
  const rows = new Map(), ends = new Map()
  const nanos = micros => Math.round(micros * 1000)
  for (const event of trace.traceEvents) {
    const node = model.nodes.get(String(event.pid))
    if (event.ph === 'M') {
      if (event.name === 'process_name') {
        want(!node, 'process', event.pid, 'is there twice')
        model.nodes.set(String(event.pid), event.args.name)
      } else if (event.name === 'thread_name') {
        want(!rows.has(event.tid), 'row', event.tid, 'is there twice')
        rows.set(event.tid, { node, name: event.args.name })
      }
    } else if (event.ph === 'C') {
      model.counters.push({ node, name: event.name, at: nanos(event.ts),
        value: Object.values(event.args)[0] })
    } else {
      const row = rows.get(event.tid)
      want(row?.node === node, 'an event on row', event.tid, 'of another process')
      want(event.ph === 'X' || event.ph === 'i', 'an event', event.ph)
      const begin = nanos(event.ts)
      const slice = { node, row: row.name, track: event.tid, begin,
        end: begin + nanos(event.dur ?? 0), name: event.name, category: event.cat,
        values: event.args ?? {}, instant: event.ph === 'i' || Boolean(event.bind_id) }
      model.slices.push(slice)
      if (event.bind_id) {
        const flow = BigInt(event.bind_id).toString()
        if (!ends.has(flow))
          ends.set(flow, [])
        ends.get(flow).push({ slice, last: Boolean(event.flow_in) })
      }
    }
  }
  return { ...model, arrows: arrowsOf(ends) }
}

// Rows of a timeline, by SQLite's program; integers must be small, so times count
// from `origin`, which is ?1 in the questions.
export function ask(timeline, origin, sql) {
  const text = execFileSync('sqlite3', ['-json', '-cmd', `.param set ?1 ${origin}`,
    timeline, sql], { maxBuffer: 1 << 30, encoding: 'utf8' })
  return text.trim() ? JSON.parse(text) : []
}
