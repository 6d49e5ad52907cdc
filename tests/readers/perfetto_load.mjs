// SPDX-License-Identifier: GPL-3.0-or-later
//
// A trace as one model, whatever form it is read from: times are nanoseconds since
// `origin`, a BigInt. { nodes: Map(number, name), slices: [{ node, row, begin, end, name,
// category, values, instant }], counters: [{ node, name, at, value }],
// arrows: [{ from, to }] of slices }. A row is one line of slices.
import fs from 'node:fs'
import readline from 'node:readline'
import { execFileSync, spawn } from 'node:child_process'

export function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

// `protoc --decode` writes a field a line; a field may come again, so each is a list.
async function* packets(lines) {
  let stack = [], here = {}
  for await (const line of lines) {
    const text = line.trim()
    if (text.endsWith('{')) {
      const inner = {}, name = text.slice(0, -2)
      want(!/^\d/.test(name), 'a field that is not in perfetto.proto:', text)
      ;(here[name] ??= []).push(inner)
      stack.push(here)
      here = inner
    } else if (text === '}') {
      here = stack.pop()
      if (stack.length === 0) {
        yield here.packet[0]
        here = {}
      }
    } else {
      const colon = text.indexOf(': '), name = text.slice(0, colon)
      want(!/^\d/.test(name), 'a field that is not in perfetto.proto:', text)
      ;(here[name] ??= []).push(text.slice(colon + 2))
    }
  }
}

// A quoted string of protoc's, with octal escapes of bytes.
function unquote(text) {
  const bytes = []
  for (let i = 1; i < text.length - 1; i++) {
    if (text[i] !== '\\') {
      bytes.push(text.charCodeAt(i))
    } else if (/[0-7]/.test(text[i + 1])) {
      bytes.push(parseInt(text.slice(i + 1, i + 4), 8))
      i += 3
    } else {
      bytes.push('n' === text[i + 1] ? 10 : 't' === text[i + 1] ? 9
        : 'r' === text[i + 1] ? 13 : text.charCodeAt(i + 1))
      i++
    }
  }
  return Buffer.from(bytes).toString()
}

class Interned {
  texts = { event_categories: new Map(), event_names: new Map(),
    debug_annotation_names: new Map(), debug_annotation_string_values: new Map() }

  add(data) {
    for (const [sort, entries] of Object.entries(data))
      for (const { iid: [iid], name: [name] } of entries) {
        want(!this.texts[sort].has(iid), sort, iid, 'is given twice')
        this.texts[sort].set(iid, unquote(name))
      }
  }

  get(sort, message, name_iid, name) {
    want((message[name_iid] ? 1 : 0) + (message[name] ? 1 : 0) === 1,
      'want one of', name_iid, 'and', name)
    if (message[name])
      return unquote(message[name][0])
    const text = this.texts[sort].get(message[name_iid][0])
    want(text !== undefined, sort, message[name_iid][0], 'is not known here')
    return text
  }
}

function annotations(interned, event) {
  const values = {}
  for (const annotation of event.debug_annotations ?? []) {
    const name = interned.get('debug_annotation_names', annotation, 'name_iid', 'name')
    want(!(name in values), name, 'comes twice')
    values[name] = annotation.int_value ? Number(annotation.int_value[0])
      : interned.get('debug_annotation_string_values', annotation, 'string_value_iid',
        'string_value')
  }
  return values
}

// Viewers sort by time, and take what has the same time as it stands in the file: the
// slices of a track are begun and ended in that order.
function pair(track, events) {
  const open = [], slices = []
  events.sort((a, b) => a.at - b.at)
  for (const { at, slice } of events) {
    if (slice && !slice.instant) {
      open.push(slice)
    } else if (!slice) {
      const begun = open.pop()
      want(begun, 'an end without a begin on track', track.name, 'at', at)
      begun.end = at
      slices.push(begun)
    }
  }
  want(open.length === 0, 'a begin without an end on track', track.name)
  return slices
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

export async function loadProto(file, definitions) {
  const child = spawn('protoc', ['--decode=Trace', `--proto_path=${definitions}`,
    'perfetto.proto'], { stdio: [fs.openSync(file), 'pipe', 'inherit'] })
  const ended = new Promise(resolve => child.on('close', resolve))
  const tracks = new Map(), sequences = new Map(), ends = new Map()
  const model = { nodes: new Map(), slices: [], counters: [] }
  for await (const packet of packets(readline.createInterface({ input: child.stdout }))) {
    // Each machine has a sequence of its own, which begins with its clocks.
    const machine = packet.machine_id?.[0] ?? '0'
    want(Number(packet.trusted_packet_sequence_id[0]) === Number(machine) + 1,
      'a packet of another machine\'s sequence')
    if (!sequences.has(machine)) {
      want(packet.sequence_flags[0] === '3', 'sequence flags')
      want(packet.trace_packet_defaults[0].timestamp_clock_id[0] === '1',
        'times are not by the trace clock')
      sequences.set(machine, new Interned())
      checkClocks(model, machine, packet)
    }
    const interned = sequences.get(machine)
    if (packet.interned_data)
      interned.add(packet.interned_data[0])
    if (packet.track_descriptor)
      addTrack(model, tracks, machine, packet.track_descriptor[0])
    if (packet.track_event)
      addEvent(model, tracks, interned, ends, packet)
  }
  want(await ended === 0, 'protoc failed')
  for (const track of tracks.values())
    model.slices.push(...pair(track, track.events), ...track.instants)
  return { ...model, arrows: arrowsOf(ends) }
}

// All machines are on the first one's clocks.
function checkClocks(model, machine, packet) {
  const read = snapshot => snapshot.clocks.map(x => [x.clock_id[0], x.timestamp[0]])
  if (machine === '0') {
    const snapshot = packet.clock_snapshot[0]
    want(snapshot.primary_trace_clock[0] === '1', 'times are not by the trace clock')
    model.clocks = read(snapshot)
    model.origin = BigInt(model.clocks[0][1])
    return
  }
  for (const { client_clocks: [client], host_clocks: [host] } of
    packet.remote_clock_sync[0].synced_clocks)
    for (const side of [client, host])
      want(String(read(side)) === String(model.clocks), 'clocks of machine', machine)
}

function addTrack(model, tracks, machine, descriptor) {
  const uuid = descriptor.uuid[0]
  want(!tracks.has(uuid), 'track', uuid, 'is there twice')
  const parent = descriptor.parent_uuid && tracks.get(descriptor.parent_uuid[0])
  const track = { uuid, parent, events: [], instants: [],
    isCounter: Boolean(descriptor.counter), unit: descriptor.counter?.[0].unit_name }
  if (descriptor.thread) {
    track.name = `thread ${descriptor.thread[0].tid[0]}`
    track.isThread = true
  } else {
    track.name = unquote(descriptor.name[0])
  }
  // Nodes are tracks without a parent, and so are threads, of their machines. The messages
  // of all nodes are on tracks of the first machine.
  const [, other] = track.name.match(/^network of (.*)/) ?? []
  if (!parent && !track.isThread && !other) {
    want(!model.nodes.has(machine), 'machine', machine, 'has two nodes')
    model.nodes.set(machine, track.name)
  }
  track.node = other ?? (parent?.name.startsWith('network of ') ? parent.node
    : model.nodes.get(machine))
  want(!parent || parent.node === track.node, 'track', uuid, 'is of another machine')
  if (parent?.isThread)
    track.name = `${parent.name}: ${track.name}`
  else if (track.isCounter && parent.parent.name === 'samples')
    track.name = `${parent.name} ${track.name}`
  tracks.set(uuid, track)
}

function addEvent(model, tracks, interned, ends, packet) {
  const event = packet.track_event[0], track = tracks.get(event.track_uuid[0])
  want(track, 'an event on track', event.track_uuid[0], 'that there is not')
  const at = Number(BigInt(packet.timestamp[0]) - model.origin)
  const type = Number(event.type[0])
  want(track.isCounter === (type === 4), 'event of type', type, 'on track', track.name)
  if (type === 4) {
    model.counters.push({ node: track.node, name: track.name, at,
      value: Number(event.double_counter_value[0]) })
    return
  }
  if (type === 2) {
    track.events.push({ at })
    return
  }
  const slice = { node: track.node, row: track.name, track: track.uuid, begin: at, end: at,
    name: interned.get('event_names', event, 'name_iid', 'name'),
    category: interned.get('event_categories', event, 'category_iids', 'categories'),
    values: annotations(interned, event), instant: type === 3 }
  if (type === 1)
    track.events.push({ at, slice })
  else
    track.instants.push(slice)
  for (const [field, last] of [['flow_ids', false], ['terminating_flow_ids', true]])
    for (const flow of event[field] ?? []) {
      if (!ends.has(flow))
        ends.set(flow, [])
      ends.get(flow).push({ slice, last })
    }
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
