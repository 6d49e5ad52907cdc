// SPDX-License-Identifier: GPL-3.0-or-later
//
// node graphite.mjs check RUN.db STORAGE POINTS: are the samples of RUN.db in the whisper
// files below STORAGE, and nothing else, each value at its second? POINTS is what
// `ctexport graphite -o` wrote, lines of text; what it has of events and messages must be
// there, too.
//
// node graphite.mjs dashboard FILE POINTS: does it ask for what POINTS has?
//
// node graphite.mjs port N: N free ports of this host.
//
// node graphite.mjs proxy FROM TO BYTES,...: pass connections to port FROM on to port TO,
// but break the first ones after so many bytes. Says how many bytes each had.
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { execFileSync } from 'node:child_process'

const [what, ...words] = process.argv.slice(2)

function want(condition, ...text) {
  if (!condition)
    throw new Error(text.join(' '))
}

// Whisper's format: a header of 16 bytes, 12 bytes an archive, points of 12 bytes.
function read_whisper(file) {
  const data = fs.readFileSync(file)
  const points = new Map()
  want(data.readUInt32BE(12) === 1, file, 'has not one archive')
  const offset = data.readUInt32BE(16), step = data.readUInt32BE(20)
  want(step === 1, file, 'steps by', step)
  for (let i = 0; i < data.readUInt32BE(24); i++) {
    const seconds = data.readUInt32BE(offset + 12 * i)
    if (seconds)
      points.set(seconds, data.readDoubleBE(offset + 12 * i + 4))
  }
  return points
}

function read_storage(root) {
  const all = new Map()
  for (const name of fs.readdirSync(root, { recursive: true }))
    if (name.endsWith('.wsp'))
      all.set(name.slice(0, -4).replaceAll(path.sep, '.'), read_whisper(path.join(root, name)))
  return all
}

const part = text => (text.endsWith('/s') ? text.slice(0, -2) : text)
  .replace(/[^A-Za-z0-9_-]/g, c => c === '%' ? 'percent_' : '_') +
  (text.endsWith('/s') ? '_per_s' : '')

function samples(timeline) {
  const rows = JSON.parse(execFileSync('sqlite3', ['-readonly', '-json', timeline, `
    SELECT n.name AS node, m.activity, coalesce(i.name, 'node') AS item, m.name AS metric,
      cast(s.ts_ns AS TEXT) AS ts_ns, s.value FROM sample AS s JOIN node AS n ON n.id = s.node
    JOIN metric AS m ON m.id = s.metric LEFT JOIN metric_item AS i ON i.id = s.item
    WHERE s.value IS NOT NULL AND m.activity <> 'process' ORDER BY s.ts_ns, s.rowid`],
  { maxBuffer: 1 << 30, encoding: 'utf8' }))
  const all = new Map()
  for (const row of rows) {
    const name = ['test.cluster', ...[row.node, row.activity, row.item, row.metric].map(part)]
      .join('.')
    if (!all.has(name))
      all.set(name, new Map())
    all.get(name).set(Number((BigInt(row.ts_ns) + 500000000n) / 1000000000n), row.value)
  }
  return all
}

function add_lines(all, file) {
  let derived = 0
  for (const line of fs.readFileSync(file, 'utf8').trim().split('\n')) {
    const [name, value, seconds] = line.split(' ')
    if (/\.(events|messages)\./.test(name)) {
      derived++
      if (!all.has(name))
        all.set(name, new Map())
      all.get(name).set(Number(seconds), Number(value))
    } else {
      want(all.get(name)?.has(Number(seconds)), 'no sample for', line)
    }
  }
  want(derived > 100, derived, 'points of events and messages')
}

function check(timeline, storage, points) {
  const wanted = samples(timeline)
  let values = 0
  add_lines(wanted, points)
  const have = read_storage(path.join(storage, 'test', 'cluster'))
  for (const [name, series] of wanted) {
    const found = have.get(name.slice('test.cluster.'.length))
    want(found, name, 'is not there')
    want(found.size === series.size, name, found.size, 'points, want', series.size)
    for (const [seconds, value] of series) {
      want(found.get(seconds) === value, name, seconds, found.get(seconds), 'want', value)
      values++
    }
  }
  want(have.size === wanted.size, have.size, 'series, want', wanted.size)
  console.log(wanted.size, 'series,', values, 'values')
}

async function ports(count) {
  const servers = []
  for (let i = 0; i < count; i++) {
    const server = net.createServer()
    await new Promise(done => server.listen(0, '127.0.0.1', done))
    servers.push(server)
  }
  console.log(servers.map(server => server.address().port).join(' '))
  servers.forEach(server => server.close())
}

function proxy(from, to, limits) {
  net.createServer({ allowHalfOpen: true }, client => {
    const limit = limits.length ? limits.shift() : Infinity
    const server = net.connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
    let bytes = 0
    client.on('data', data => {
      bytes += data.length
      if (bytes <= limit) {
        server.write(data)
        return
      }
      server.end(data.subarray(0, data.length - (bytes - limit)))
      console.log('broken after', limit)
      if (limit % 2)
        client.resetAndDestroy()
      else
        client.end()
    })
    client.on('end', () => server.end())
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    server.on('close', () => client.end())
    server.resume()
  }).listen(from, '127.0.0.1', () => console.log('ready'))
}

// Every target of the dashboard asks for series that are there.
function dashboard(file, points) {
  const names = new Set(fs.readFileSync(points, 'utf8').trim().split('\n')
    .map(line => line.split(' ')[0]))
  const { panels, templating, time } = JSON.parse(fs.readFileSync(file, 'utf8'))
  want(Date.parse(time.to) > Date.parse(time.from), 'times', time.from, time.to)
  want(templating.list.map(variable => variable.name).join() === 'datasource,node,disk,interface',
    'variables')
  const ids = new Set(panels.map(panel => panel.id))
  want(ids.size === panels.length, 'ids')
  for (const wanted of ['CPU utilization', 'Memory', 'Swap', 'Disks: utilization',
    'Network: received and sent'])
    for (const type of ['gauge', 'timeseries'])
      want(panels.some(panel => panel.title === wanted && panel.type === type), wanted, type)
  for (const { title, targets } of panels)
    for (const { target } of targets) {
      const glob = target.match(/[a-z]+\.cluster\.[^,)]*/)[0]
      const pattern = new RegExp('^' + glob.replaceAll('.', '\\.')
        .replaceAll(/\$[a-z]+|\*/g, '[^.]*') + '$')
      // The recorded run has no scheduler events.
      want(glob.includes('.events.') || [...names].some(name => pattern.test(name)),
        title, 'asks for', glob)
    }
  console.log(panels.length, 'panels')
}

if (what === 'check')
  check(...words)
else if (what === 'dashboard')
  dashboard(...words)
else if (what === 'port')
  await ports(Number(words[0]))
else
  proxy(Number(words[0]), Number(words[1]), words[2].split(',').map(Number))
