// SPDX-License-Identifier: GPL-3.0-or-later
//
// node opendc.mjs VERSION...: are the tables in VERSION-parquet, read by hyparquet and by
// DuckDB, of the types that OpenDC wants, and of the values that VERSION-csv has?
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const UTF8 = 'BYTE_ARRAY UTF8', MILLIS = 'INT64 TIMESTAMP_MILLIS'
// Required and optional columns of each version: physical types, and what they mean.
const CAPACITIES = { cpu_count: 'INT32', cpu_capacity: 'DOUBLE', mem_capacity: 'INT64' }
const GPU = { gpu_count: 'INT32', gpu_capacity: 'DOUBLE' }
const TASKS = {
  v1: [{ id: UTF8, start_time: MILLIS, stop_time: MILLIS, ...CAPACITIES }, {}],
  v2: [{ id: UTF8, submission_time: MILLIS, duration: 'INT64', ...CAPACITIES }, {}],
  v3: [{ id: UTF8, submission_time: MILLIS, duration: 'INT64', ...CAPACITIES },
    { ...GPU, parents: UTF8, children: UTF8, nature: UTF8, deadline: 'INT64' }],
  v4: [{ id: 'INT32', submission_time: MILLIS, duration: 'INT64', ...CAPACITIES },
    { name: UTF8, ...GPU, parents: 'INT32', children: 'INT32', nature: UTF8,
      deadline: 'INT64' }],
  v5: [{ id: 'INT32', submission_time: MILLIS, duration: 'INT64', ...CAPACITIES },
    { name: UTF8, ...GPU, parents: 'INT32', children: 'INT32', deferrable: 'BOOLEAN',
      deadline: 'INT64' }],
}
const OLD = { duration: 'INT64', cpu_count: 'INT32', cpu_usage: 'DOUBLE' }
const NEW = { duration: 'INT64', cpu_usage: 'DOUBLE' }
const FRAGMENTS = {
  v1: [{ id: UTF8, timestamp: MILLIS, ...OLD }, {}], v2: [{ id: UTF8, ...OLD }, {}],
  v3: [{ id: UTF8, ...OLD }, { gpu_usage: 'DOUBLE' }],
  v4: [{ id: 'INT32', ...NEW }, { gpu_usage: 'DOUBLE' }],
  v5: [{ id: 'INT32', ...NEW }, { gpu_usage: 'DOUBLE' }],
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
  const [head, ...lines] = fs.readFileSync(file, 'utf8').trim().split('\r\n')
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

async function check(connection, version, stem, schema) {
  const file = `${version}-parquet/${stem}.parquet`
  const wanted = csv_rows(`${version}-csv/${stem}.csv`)
  const bytes = fs.readFileSync(file)
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  check_schema(file, parquetMetadata(data), schema)
  compare('hyparquet', file, await parquetReadObjects({ file: data, compressors }), wanted)
  const found = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
  return compare('duckdb', file, found.getRowObjects(), wanted)
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()
for (const version of process.argv.slice(2)) {
  const first = version === 'v1'
  const tasks = await check(connection, version, first ? 'trace/meta' : 'tasks',
    TASKS[version])
  const fragments = await check(connection, version, first ? 'trace/trace' : 'fragments',
    FRAGMENTS[version])
  want(tasks > 10 && fragments > 100, version, tasks, 'tasks', fragments, 'fragments')
  console.log(`${version}: ${tasks} tasks, ${fragments} fragments`)
}
