// SPDX-License-Identifier: GPL-3.0-or-later
//
// node parquet.mjs STEM.parquet...: is STEM.parquet, read by hyparquet and by DuckDB, what
// STEM.jsonl says? Also: do statistics hold for the values?
import fs from 'node:fs'
import readline from 'node:readline'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetMetadata, parquetRead, parquetSchema } from 'hyparquet'
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js'
import { compressors } from 'hyparquet-compressors'

const CODECS = ['ZSTD', 'UNCOMPRESSED', 'SNAPPY']
const TYPES = { 0: 'BOOLEAN', 1: 'INT32', 2: 'INT64', 5: 'DOUBLE', 6: 'BYTE_ARRAY' }
const MILLIS = 2, NANOS = 3
const LOGICALS = { 1: 'UTF8', 2: 'TIMESTAMP_MILLIS' }
const same = x => x
const raw = { timestampFromMilliseconds: same, timestampFromMicroseconds: same,
  timestampFromNanoseconds: same, stringFromBytes: same }
const seen = {}

function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

async function expected(stem) {
  const lines = readline.createInterface({ input: fs.createReadStream(stem + '.jsonl') })
  const rows = []
  for await (const line of lines)
    rows.push(JSON.parse(line))
  return { ...rows.shift(), data: rows }
}

const buffer = new DataView(new ArrayBuffer(8))

function hex(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

// A reader's value in the words of STEM.jsonl.
function words(column, value) {
  if (value === null || value === undefined)
    return null
  if (column.type === 5) {
    want(typeof value === 'number', 'no number:', value)
    if (Number.isNaN(value))
      return 'nan'
    buffer.setFloat64(0, value)
    return buffer.getBigUint64(0).toString(16).padStart(16, '0')
  }
  if (typeof value === 'boolean')
    return value ? '1' : '0'
  if (typeof value === 'string')
    return Buffer.from(value, 'utf8').toString('hex')
  if (value instanceof Uint8Array)
    return hex(value)
  if (value.bytes instanceof Uint8Array)
    return hex(value.bytes)
  for (const unit of ['micros', 'nanos'])
    if (typeof value[unit] === 'bigint')
      return String(column.logical === MILLIS ? value[unit] / 1000n : value[unit])
  return String(value)
}

function list_words(column, value) {
  if (!column.list || value === null || value === undefined)
    return words(column, value)
  return (value.items ?? value).map(item => words(column, item))
}

// DuckDB has no nanoseconds with a time zone: it cuts them off.
function micros(value) {
  return Array.isArray(value) ? value.map(micros)
    : value === null ? null : String(BigInt(value) / 1000n)
}

function compare(reader, file, rows) {
  want(rows.length === file.rows, `${reader}: ${rows.length} rows, want ${file.rows}`)
  want(file.data.length === file.rows, `${file.data.length} rows were made`)
  rows.forEach((row, i) => file.columns.forEach((column, j) => {
    const have = JSON.stringify(list_words(column, row[j]))
    const wanted = JSON.stringify(reader === 'duckdb' && column.logical === NANOS
      ? micros(file.data[i][j]) : file.data[i][j])
    want(have === wanted, `${reader}: row ${i}, column ${j}: ${have.slice(0, 99)}, want`,
      wanted.slice(0, 99))
  }))
}

async function by_hyparquet(stem, file) {
  const bytes = fs.readFileSync(stem + '.parquet')
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  let rows = []
  await parquetRead({ file: data, compressors, parsers: raw, utf8: false,
    onComplete: all => { rows = all } })
  compare('hyparquet', file, rows)
  return data
}

async function by_duckdb(connection, stem, file) {
  const from = `read_parquet('${stem}.parquet')`
  const reader = await connection.runAndReadAll(`SELECT * FROM ${from}`)
  compare('duckdb', file, reader.getRows())
  const facts = await connection.runAndReadAll(
    `SELECT created_by, num_rows FROM parquet_file_metadata('${stem}.parquet')`)
  want(facts.getRows()[0][0].startsWith('clustertrace version '), 'created_by')
  want(facts.getRows()[0][1] === BigInt(file.rows), 'num_rows')
  const pair = await connection.runAndReadAll(
    `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${stem}.parquet')`)
  want(JSON.stringify(pair.getRows()) === '[["key","value €"]]', 'key-value metadata')
  await pruned(connection, from, file, reader.columnNames())
}

// Readers leave out row groups by their statistics: what is there must be found.
async function pruned(connection, from, file, names) {
  for (const [j, column] of file.columns.entries()) {
    if (column.list || column.logical === NANOS || file.rows === 0)
      continue
    const name = '"' + names[j].replaceAll('"', '""') + '"'
    const at = (file.rows * 7919) % file.rows
    const sought = file.data[at][j]
    if (sought === null)
      continue
    const count = file.data.filter(row => row[j] !== null &&
      key(column, row[j]) === key(column, sought)).length
    const found = await connection.runAndReadAll(`SELECT count(*) FROM ${from} WHERE ${name} =
      (SELECT ${name} FROM ${from} LIMIT 1 OFFSET ${at})`)
    want(found.getRows()[0][0] === BigInt(count), `duckdb: column ${j}: found`,
      found.getRows()[0][0], 'want', count)
  }
}

function check_schema(file, metadata) {
  const top = parquetSchema(metadata).children
  want(top.length === file.columns.length, 'columns')
  file.columns.forEach((column, i) => {
    let { element } = top[i]
    want(element.repetition_type === (column.optional ? 'OPTIONAL' : 'REQUIRED'), 'repetition')
    if (column.list) {
      want(element.converted_type === 'LIST' && element.logical_type.type === 'LIST', 'list')
      want(top[i].children[0].element.name === 'list', 'inner name')
      want(top[i].children[0].element.repetition_type === 'REPEATED', 'inner repetition')
      element = top[i].children[0].children[0].element
      want(element.name === 'element', 'name of elements')
      want(element.repetition_type === 'OPTIONAL', 'elements')
    }
    want(element.type === TYPES[column.type], 'type', element.type)
    want(element.converted_type === LOGICALS[column.logical], 'converted', element.converted_type)
  })
}

// The key by which bounds of the format are compared.
function key(column, word) {
  if (word === 'nan')
    return undefined
  if (column.type >= 6)
    return word
  if (column.type === 5) {
    buffer.setBigUint64(0, BigInt('0x' + word))
    return buffer.getFloat64(0)
  }
  return BigInt(word)
}

// A bound as the format has it: PLAIN without a length.
function bound(column, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (column.type) {
    case 0: return BigInt(view.getUint8(0))
    case 1: return BigInt(view.getInt32(0, true))
    case 2: return view.getBigInt64(0, true)
    case 5: return view.getFloat64(0, true)
    default: return hex(bytes)
  }
}

// The keys of a column's values in some rows, and how many nulls there are. With a NaN
// among them there are to be no bounds.
function keys_of(column, data, j, first, end) {
  const keys = []
  let nulls = 0, values = 0, nan = false
  for (let i = first; i < end; i++) {
    const value = data[i][j]
    const items = !column.list ? [value] : value === null || value.length === 0 ? [null] : value
    for (const item of items) {
      values++
      if (item === null)
        nulls++
      else if (key(column, item) === undefined)
        nan = true
      else
        keys.push(key(column, item))
    }
  }
  return { keys, nulls, values, nan }
}

// Long arrays have no bounds.
function check_bounds(column, keys, least, most, exact) {
  let low = keys[0], high = keys[0]
  for (const one of keys) {
    low = one < low ? one : low
    high = one > high ? one : high
  }
  if (keys.length === 0)
    return
  if (column.type === 6 && keys.some(one => one.length > 128)) {
    want(least === undefined && most === undefined, 'bounds of long arrays')
    seen.boundless = 1 + (seen.boundless ?? 0)
    return
  }
  want(least === low && most === high && exact[0] && exact[1], 'bounds', least, most, low, high)
}

function check_statistics(file, metadata, end_struct) {
  let first = 0
  for (const [g, group] of metadata.row_groups.entries()) {
    const end = first + Number(group.num_rows)
    group.columns.forEach((chunk, j) => {
      const column = file.columns[j]
      const { keys, nulls, values, nan } = keys_of(column, file.data, j, first, end)
      const { codec, num_values, encoding_stats } = chunk.meta_data
      const statistics = end_struct.field_4[g].field_1[j].field_3.field_12
      want(codec === CODECS[file.codec], 'codec', codec)
      want(num_values === BigInt(values), 'num_values')
      want(statistics.field_3 === BigInt(nulls), 'null_count', statistics.field_3, nulls)
      const exact = [statistics.field_8, statistics.field_7]
      const [least, most] = [statistics.field_6, statistics.field_5]
        .map(value => value === undefined ? value : bound(column, value))
      want(keys.length > 0 && !nan || least === undefined && most === undefined, 'bounds of nothing')
      if (!nan)
        check_bounds(column, keys, least, most, exact)
      for (const { page_type, encoding } of encoding_stats)
        if (page_type === 'DATA_PAGE')
          seen[encoding] = 1 + (seen[encoding] ?? 0)
      seen[codec] = 1 + (seen[codec] ?? 0)
    })
    first = end
  }
  want(first === file.rows, 'rows of all row groups')
}

// A struct of the file's metadata as it is, with its bounds in bytes.
function struct_at(data, offset, length) {
  return deserializeTCompactProtocol({ view: new DataView(data, Number(offset), length),
    offset: 0 })
}

function footer(data) {
  const length = new DataView(data).getUint32(data.byteLength - 8, true)
  return struct_at(data, data.byteLength - 8 - length, length)
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()
for (const path of process.argv.slice(2)) {
  const stem = path.slice(0, -'.parquet'.length)
  try {
    const file = await expected(stem)
    const data = await by_hyparquet(stem, file)
    const metadata = parquetMetadata(data, { parsers: raw })
    check_schema(file, metadata)
    check_statistics(file, metadata, footer(data))
    await by_duckdb(connection, stem, file)
  } catch (error) {
    console.log(`${stem}: ${error.stack}`)
    process.exitCode = 1
  }
}
// There must have been some of these, or the files tell of less than they seem to.
const wanted = ['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED', ...CODECS, 'boundless']
if (process.argv.length > 60 && wanted.some(what => !seen[what])) {
  console.log('not all encodings and codecs were there')
  process.exitCode = 1
}
console.log(JSON.stringify(seen))
