// SPDX-License-Identifier: GPL-3.0-or-later
//
// node opendc.mjs KIND...: are the tables in KIND-parquet, read by hyparquet and by
// DuckDB, of the types that OpenDC wants, and of the values that KIND-csv has?
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

// Required and optional columns: physical types, and what they mean.
const SCHEMA = {
  tasks: [{ id: 'INT32', submission_time: 'INT64 TIMESTAMP_MILLIS', duration: 'INT64',
    cpu_count: 'INT32', cpu_capacity: 'DOUBLE', mem_capacity: 'INT64' },
  { name: 'BYTE_ARRAY UTF8', gpu_count: 'INT32', gpu_capacity: 'DOUBLE', parents: 'INT32',
    children: 'INT32', deferrable: 'BOOLEAN', deadline: 'INT64' }],
  fragments: [{ id: 'INT32', duration: 'INT64', cpu_usage: 'DOUBLE' },
    { gpu_usage: 'DOUBLE' }],
}

function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

function type_of(element) {
  return element.converted_type ? `${element.type} ${element.converted_type}` : element.type
}

// The schema is flat but for lists: NAME, "list", "element".
function columns_of(metadata) {
  const columns = {}
  const elements = metadata.schema.slice(1)
  for (let i = 0; i < elements.length; i++) {
    const top = elements[i]
    if (top.type) {
      columns[top.name] = [type_of(top), top.repetition_type]
      continue
    }
    want(top.converted_type === 'LIST' && top.num_children === 1, top.name, 'is a list')
    want(elements[i + 1].name === 'list' && elements[i + 1].repetition_type === 'REPEATED')
    want(elements[i + 2].name === 'element', elements[i + 2].name)
    columns[top.name] = [type_of(elements[i + 2]), top.repetition_type]
    i += 2
  }
  return columns
}

function check_schema(file, metadata, [required, optional]) {
  const columns = columns_of(metadata)
  for (const [name, type] of Object.entries(required))
    want(columns[name]?.[0] === type && columns[name][1] === 'REQUIRED', file, name,
      columns[name], 'want', type, 'REQUIRED')
  for (const [name, type] of Object.entries(optional))
    want(columns[name]?.[0] === type && columns[name][1] === 'OPTIONAL', file, name,
      columns[name], 'want', type, 'OPTIONAL')
  const more = Object.keys(columns).filter(name => !(name in required) && !(name in optional))
  want(more.every(name => name === 'node'), file, 'has columns besides:', more)
}

// No field of these files has a comma, a quote or a line break in it.
function csv_rows(file) {
  const [head, ...lines] = fs.readFileSync(file, 'utf8').trim().split(/\r?\n/)
  const names = head.split(',')
  return lines.map(line => Object.fromEntries(line.split(',').map((v, i) => [names[i], v])))
}

function text(name, value) {
  if (value === null || value === undefined)
    return ''
  if (value instanceof Date)
    return String(value.getTime())
  if (typeof value.micros === 'bigint')
    return String(value.micros / 1000n)
  if (value.items || Array.isArray(value))
    return (value.items ?? value).map(String).join(';')
  return String(value)
}

// Numbers are the same to the bit: one text may be "1600.0", the other "1600".
function same(name, have, csv) {
  return have === csv || (have !== '' && csv !== '' && Number(have) === Number(csv))
}

function compare(reader, file, rows, wanted) {
  want(rows.length === wanted.length, reader, file, rows.length, 'rows, want', wanted.length)
  rows.forEach((row, i) => {
    for (const [name, csv] of Object.entries(wanted[i]))
      want(same(name, text(name, row[name]), csv), reader, file, 'row', i, name,
        text(name, row[name]), 'want', csv)
  })
  return rows.length
}

async function check(connection, kind, table) {
  const file = `${kind}-parquet/${table}.parquet`
  const wanted = csv_rows(`${kind}-csv/${table}.csv`)
  const bytes = fs.readFileSync(file)
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  check_schema(file, parquetMetadata(data), SCHEMA[table])
  compare('hyparquet', file, await parquetReadObjects({ file: data, compressors }), wanted)
  const found = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
  return compare('duckdb', file, found.getRowObjects(), wanted)
}

// MHz times milliseconds of each task of a node are 1000 times what its threads ran, in ns.
async function check_sums(connection) {
  const worked = await connection.runAndReadAll(`
    SELECT t.name, sum(f.cpu_usage * f.duration) AS worked
    FROM read_parquet('node-parquet/tasks.parquet') AS t
    JOIN read_parquet('node-parquet/fragments.parquet') AS f ON f.id = t.id GROUP BY t.name`)
  const ran = Object.fromEntries(csv_rows('ran.csv').map(row => [row.name, row]))
  const rows = worked.getRowObjects()
  want(rows.length === Object.keys(ran).length && rows.length > 1, rows.length, 'nodes')
  for (const row of rows) {
    const wanted = Number(ran[row.name].ran_ns) / 1e6 * 1000
    want(Math.abs(row.worked - wanted) < wanted * 1e-6, row.name, row.worked, 'want', wanted)
  }
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()
for (const kind of process.argv.slice(2)) {
  const tasks = await check(connection, kind, 'tasks')
  const fragments = await check(connection, kind, 'fragments')
  want(kind === 'node' || tasks > 10, kind, tasks, 'tasks')
  want(fragments > 100, kind, fragments, 'fragments')
  console.log(`${kind}: ${tasks} tasks, ${fragments} fragments`)
}
await check_sums(connection)
