// SPDX-License-Identifier: GPL-3.0-or-later
//
// node parts.mjs WHOLE OUT: the tables that ctmerge --join made of parts (OUT) have the
// rows that ctexport parquet makes of the whole run's timeline (WHOLE), by DuckDB. Ids
// are not compared, but what they stand for: a node's or a class's name, and of rows how
// many of its node came before.
import fs from 'node:fs'
import path from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

const [whole, out] = process.argv.slice(2)
const quote = name => '"' + name.replaceAll('"', '""') + '"'
const text = value => "'" + value.replaceAll("'", "''") + "'"
const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const db = await instance.connect()
const rows = async sql => (await db.runAndReadAll(sql)).getRowObjects()

// The table whose ids a column's integers are, where its name alone does not tell.
const meant = {
  node: 'node', source: 'source', class: 'class', metric: 'metric', item: 'item',
  src_node: 'node', dst_node: 'node', client: 'node', server: 'node',
  client_source: 'source', server_source: 'source', send_source: 'source',
  recv_source: 'source', reference: 'source', send_event: 'event', recv_event: 'event',
  send_first_recv: 'event', send_last_recv: 'event', recv_batch: 'event',
  wake_event: 'event', wake_first_recv: 'event', wake_last_recv: 'event',
  entry_event: 'event', exit_event: 'event', request_event: 'event',
  response_event: 'event', message: 'message', last_message: 'message', thread: 'thread', process: 'process',
}
const meant_id = { node: 'node', source: 'source', event_class: 'class',
  metric: 'metric', metric_item: 'item', event: 'event', message: 'message',
  request: 'message', process: 'process', thread: 'thread' }
const fixed = ['block_request', 'clock', 'clock_bound', 'clock_pair', 'event',
  'event_class', 'event_column', 'invocation', 'irq', 'message', 'message_observation', 'meta', 'metric',
  'metric_item', 'node', 'problem', 'process', 'recorded', 'request', 'sample', 'source',
  'syscall', 'thread', 'thread_state']

// The tables of a directory, as views of a schema; by part, or once.
async function open(schema, directory) {
  const tables = new Set()

  await db.run(`CREATE SCHEMA ${schema}`)
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const name = decodeURIComponent(entry.name.replace(/\.parquet$/, ''))
    let files = path.join(directory, entry.name)

    if (entry.name.startsWith('.') || entry.name === '_SUCCESS')
      continue
    if (tables.has(name))
      throw new Error(`${name} is there both by part and once`)
    if (entry.isDirectory())
      files = path.join(files, 'part=*', '*.parquet')
    tables.add(name)
    await db.run(`CREATE VIEW ${schema}.${quote(name)} AS SELECT * FROM ` +
      `read_parquet(${text(files)}, hive_partitioning = false)`)
  }
  return [...tables].sort()
}

// Tables of a number and a text that ids refer to.
async function name_ids(schema) {
  const make = (name, sql) => db.run(`CREATE TABLE ${schema}.${quote('id ' + name)} AS ${sql}`)
  const place = (of, by) => `SELECT t.id, n.name || ' ' || row_number() OVER ` +
    `(PARTITION BY t.${by} ORDER BY t.id) AS name FROM ${schema}.${of} AS t ` +
    `JOIN ${schema}.node AS n ON n.id = t.${by}`

  await make('node', `SELECT id, name FROM ${schema}.node`)
  await make('source', `SELECT id, name FROM ${schema}.source`)
  await make('class', `SELECT id, kind || ' ' || name || ' ' || coalesce(table_name, '') ` +
    `AS name FROM ${schema}.event_class`)
  await make('metric', `SELECT id, concat_ws('/', name, unit, kind, activity) AS name ` +
    `FROM ${schema}.metric`)
  await make('item', `SELECT id, concat_ws('/', type, name) AS name FROM ${schema}.metric_item`)
  for (const [name, by] of [['event', 'node'], ['process', 'node'], ['thread', 'node'],
    ['message', 'dst_node']])
    await make(name, place(name, by))
}

// A table's rows, without ids.
async function plain(schema, table) {
  const columns = (await rows(`DESCRIBE ${schema}.${quote(table)}`))
    .map(row => [row.column_name, row.column_type])
  const selected = columns.map(([name, type]) => {
    let what = fixed.includes(table) ? meant[name] : name === 'id' ? 'event' : undefined

    if (name === 'id' && fixed.includes(table))
      what = meant_id[table]
    if (['a', 'b'].includes(name) && table === 'clock_pair')
      what = 'source'
    if (name === 'command' || (table === 'meta' && name === 'value'))
      return `CASE WHEN key = 'command' THEN '' ELSE ${quote(name)} END AS ${quote(name)}`
    if (what && /INT/.test(type))
      return `(SELECT m.name FROM ${schema}.${quote('id ' + what)} AS m ` +
        `WHERE m.id = t.${quote(name)}) AS ${quote(name)}`
    if (name === 'id')
      return '0 AS id'
    return `t.${quote(name)}`
  })

  return [columns.join(), `SELECT ${selected.join(', ')} FROM ${schema}.${quote(table)} AS t`]
}

const tables = await open('w', whole)
const joined = await open('u', out)
let failed = false, compared = 0n

if (tables.join() !== joined.join())
  throw new Error(`tables: ${tables} | ${joined}`)
await name_ids('w')
await name_ids('u')
for (const table of tables) {
  const [declared, want] = await plain('w', table), [found, have] = await plain('u', table)

  if (declared !== found)
    throw new Error(`${table}: columns ${found}, want ${declared}`)
  await db.run(`CREATE OR REPLACE TABLE want AS ${want}`)
  await db.run(`CREATE OR REPLACE TABLE have AS ${have}`)
  const [{ n }] = await rows('SELECT count(*) AS n FROM want')
  const [{ m }] = await rows('SELECT count(*) AS m FROM have')
  // With as many rows on both sides, none lacks unless another is there besides.
  const ways = [['want', 'have', 'lacks'], ['have', 'want', 'has besides']]

  for (const [a, b, word] of n === m ? ways.slice(0, 1) : ways) {
    const others = await rows(`SELECT *, count(*) OVER () AS others FROM ` +
      `(FROM ${a} EXCEPT ALL FROM ${b}) LIMIT 2`)

    if (!others.length)
      continue
    failed = true
    console.log(`${table} ${word} ${others[0].others} rows, such as`)
    for (const row of others)
      console.log(JSON.stringify(row, (key, value) =>
        typeof value === 'bigint' ? String(value) : value))
  }
  compared += n
}
// Ids of all parts together are unique, and below 2^63.
for (const table of [...fixed, 'sched_switch'].filter(name => tables.includes(name))) {
  if (!(await rows(`DESCRIBE u.${quote(table)}`)).some(row => row.column_name === 'id'))
    continue
  const [{ all, different }] = await rows('SELECT count(*) AS all, count(DISTINCT id) ' +
    `AS different FROM u.${quote(table)} WHERE id > 0`)
  const [{ n }] = await rows(`SELECT count(*) AS n FROM u.${quote(table)}`)

  if (all !== different || n !== all) {
    failed = true
    console.log(`${table}: ${n} rows, ${different} ids`)
  }
}
if (failed)
  process.exit(1)
console.log(`${tables.length} tables, ${compared} rows: the same`)
