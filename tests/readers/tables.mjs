// SPDX-License-Identifier: GPL-3.0-or-later
//
// node tables.mjs RUN.db DIR: what ctexport wrote of RUN.db, read by hyparquet and by
// DuckDB, against what the sqlite3 program says, value by value:
//   DIR/parquet    all tables             DIR/csv   all tables
//   DIR/utc        with --timestamps utc  DIR/part  --partition node,class
//   DIR/query.parquet, DIR/query.csv, DIR/empty.parquet   of the queries in tables.sh
//   DIR/events             what ctmerge --parquet wrote of the same events
import fs from 'node:fs'
import { execFileSync } from 'node:child_process'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetMetadata, parquetRead, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const [timeline, directory] = process.argv.slice(2)
const same = x => x
const raw = { timestampFromMilliseconds: same, timestampFromMicroseconds: same,
  timestampFromNanoseconds: same, stringFromBytes: same }
const quote_name = name => '"' + name.replaceAll('"', '""') + '"'
const quote_text = text => "'" + text.replaceAll("'", "''") + "'"
let compared = 0

function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

// Rows as sqlite3 has them; a cell is its SQL literal, which tells its type.
function ask(sql, columns) {
  const list = columns.map(name => `quote(${quote_name(name)})`).join(', ')
  const text = execFileSync('sqlite3', ['-readonly', '-list', '-separator', '\x1f',
    '-newline', '\x1e', timeline, `SELECT ${list} FROM (${sql})`],
  { maxBuffer: 1 << 30, encoding: 'utf8' })
  return text.split('\x1e').slice(0, -1).map(line => line.split('\x1f'))
}

function columns_of(table) {
  const text = execFileSync('sqlite3', ['-readonly', '-json', timeline,
    `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(${quote_text(table)})`],
  { encoding: 'utf8' })
  return JSON.parse(text)
}

const buffer = new DataView(new ArrayBuffer(8))

// A literal, or a reader's value, in words that are the same if the values are.
function literal(text) {
  if (text === 'NULL')
    return 'null'
  if (text.startsWith("X'"))
    return 'bytes ' + text.slice(2, -1).toLowerCase()
  if (text.startsWith("'"))
    return 'bytes ' + Buffer.from(text.slice(1, -1).replaceAll("''", "'")).toString('hex')
  if (/[.eI]/.test(text))
    return real(Number(text.replace(/9\.0e\+999/, 'Infinity')))
  return 'integer ' + text
}

function real(value) {
  buffer.setFloat64(0, value)
  return 'real ' + buffer.getBigUint64(0).toString(16)
}

function value(read) {
  if (read === null || read === undefined)
    return 'null'
  if (typeof read === 'bigint')
    return 'integer ' + read
  if (typeof read === 'number')
    return real(read)
  if (typeof read === 'string')
    return 'bytes ' + Buffer.from(read).toString('hex')
  if (read.bytes instanceof Uint8Array)
    read = read.bytes
  if (read instanceof Uint8Array)
    return 'bytes ' + Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString('hex')
  if (typeof read.nanos === 'bigint')
    return 'integer ' + read.nanos
  if (typeof read.micros === 'bigint')
    return 'micros ' + read.micros
  throw new Error('what is ' + read)
}

function compare(what, rows, wanted, map = same) {
  want(rows.length === wanted.length, what, rows.length, 'rows, want', wanted.length)
  rows.forEach((row, i) => row.forEach((cell, j) => {
    const have = value(cell), right = map(literal(wanted[i][j]), j)
    want(have === right, `${what}: row ${i}, column ${j}: ${have}, want ${right}`)
    compared++
  }))
}

function bytes_of(path) {
  const bytes = fs.readFileSync(path)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}

async function by_hyparquet(path) {
  let rows = []
  await parquetRead({ file: bytes_of(path), compressors, parsers: raw, utf8: false,
    onComplete: all => { rows = all } })
  return rows
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()

async function by_duckdb(sql) {
  return (await connection.runAndReadAll(sql)).getRows()
}

// An untyped column has the one type of its values.
async function check_table(table) {
  const path = `${directory}/parquet/${table}.parquet`
  const columns = columns_of(table)
  const wanted = ask(`SELECT * FROM ${quote_name(table)}`, columns.map(c => c.name))
  compare(`${table}, hyparquet`, await by_hyparquet(path), wanted)
  compare(`${table}, duckdb`, await by_duckdb(`SELECT * FROM read_parquet(${quote_text(path)})`),
    wanted)
  const top = parquetSchema(parquetMetadata(bytes_of(path))).children
  columns.forEach((column, i) => {
    const { element } = top[i]
    const required = column.notnull || (column.pk && column.type === 'INTEGER')
    const type = { INTEGER: 'INT64', REAL: 'DOUBLE', TEXT: 'BYTE_ARRAY', BLOB: 'BYTE_ARRAY' }
    want(element.name === column.name, 'name', element.name)
    want(element.repetition_type === (required ? 'REQUIRED' : 'OPTIONAL'), table, column.name)
    want(!column.type || element.type === type[column.type], table, column.name, element.type)
    want(column.type !== 'TEXT' || element.converted_type === 'UTF8', table, column.name)
  })
}

// The columns that were written have the values of the timeline's.
async function check_direct() {
  const files = fs.readdirSync(directory + '/events').filter(name => !name.startsWith('.'))
  const classes = execFileSync('sqlite3', ['-readonly', timeline,
    'SELECT table_name FROM event_class'], { encoding: 'utf8' }).trim().split('\n')
  want(files.join() === ['event', 'event_class', 'node', ...classes]
    .map(name => name + '.parquet').sort().join(), 'files of events', files)
  for (const file of files) {
    const path = `${directory}/events/${file}`, table = file.replace(/\.parquet$/, '')
    const columns = parquetSchema(parquetMetadata(bytes_of(path))).children
      .map(({ element }) => element.name)
    const wanted = ask(`SELECT * FROM ${quote_name(table)} ORDER BY id`, columns)
    want(columns.length > 1 || classes.includes(table), table, columns)
    compare(`${table} of events, hyparquet`, await by_hyparquet(path), wanted)
    compare(`${table} of events, duckdb`,
      await by_duckdb(`SELECT * FROM read_parquet(${quote_text(path)})`), wanted)
  }
}

// DuckDB has micros of what is marked as UTC.
async function check_utc(table, instants) {
  const columns = columns_of(table).map(c => c.name)
  const wanted = ask(`SELECT * FROM ${quote_name(table)}`, columns)
  const micros = (word, j) => instants.includes(columns[j]) && word.startsWith('integer ')
    ? 'micros ' + BigInt(word.slice(8)) / 1000n : word
  const path = `${directory}/utc/${table}.parquet`
  compare(`${table}, utc`, await by_duckdb(`SELECT * FROM read_parquet(${quote_text(path)})`),
    wanted, micros)
  compare(`${table}, utc, hyparquet`, await by_hyparquet(path), wanted)
}

// A reader of CSV that knows quotes: fields that were in quotes are not NULL.
function parse_csv(text) {
  const rows = []
  let row = [], at = 0
  while (at < text.length) {
    if (text[at] === '"') {
      let field = ''
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        field += text[at]
        at += text[at] === '"'
      }
      row.push(field)
      at++
    } else {
      const end = text.slice(at).search(/[,\r]/) + at
      row.push(end === at ? null : text.slice(at, end))
      at = end
    }
    if (text[at] === ',') {
      at++
      continue
    }
    want(text.slice(at, at + 2) === '\r\n', 'no CR LF at', at)
    rows.push(row)
    row = []
    at += 2
  }
  return rows
}

function csv_word(text) {
  if (text === 'NULL')
    return null
  if (text.startsWith("X'"))
    return text.slice(2, -1).toLowerCase()
  if (text.startsWith("'"))
    return text.slice(1, -1).replaceAll("''", "'")
  return text
}

function check_csv(path, columns, wanted) {
  const [names, ...rows] = parse_csv(fs.readFileSync(path, 'utf8'))
  want(JSON.stringify(names) === JSON.stringify(columns), path, names)
  want(rows.length === wanted.length, path, rows.length, 'rows, want', wanted.length)
  rows.forEach((row, i) => row.forEach((field, j) => {
    const right = csv_word(wanted[i][j])
    const number = right !== null && /^-?[0-9.]+(e[+-]?[0-9]+)?$/.test(right) &&
      /[.e]/.test(right) && !wanted[i][j].startsWith("'")
    want(number ? Number(field) === Number(right) && /[.e]/.test(field) : field === right,
      `${path}: row ${i}, column ${j}: ${field}, want ${right}`)
    compared++
  }))
}

// Paths give the keys back, and only the files that are asked for are read.
async function check_dataset() {
  const from = `read_parquet(${quote_text(directory + '/part/**/*.parquet')},
    hive_partitioning = true, union_by_name = true)`
  const wanted = ask('SELECT node, class, count(*) AS n, min(ts_ns) AS a, max(ts_ns) AS b ' +
    'FROM timeline GROUP BY 1, 2 ORDER BY 1, 2', ['node', 'class', 'n', 'a', 'b'])
  compare('dataset', await by_duckdb(`SELECT node, class, count(*) AS n, min(ts_ns), max(ts_ns)
    FROM ${from} GROUP BY 1, 2 ORDER BY 1, 2`), wanted)
  const [node, name] = wanted[wanted.length >> 1].slice(0, 2)
  const plan = await by_duckdb(`EXPLAIN ANALYZE SELECT count(*) FROM ${from}
    WHERE node = ${node} AND class = ${name}`)
  want(/Total Files Read: *1\b/.test(String(plan)), 'not pruned:', plan)
  const table = csv_word(name)
  const path = `${directory}/part/node=${csv_word(node)}/class=${table}/part-0.parquet`
  const columns = ask('SELECT name FROM pragma_table_info(' + quote_text(table + '_v') + ')',
    ['name']).map(([word]) => csv_word(word)).filter(column => column !== 'node')
  compare('a part', await by_hyparquet(path), ask(
    `SELECT * FROM ${quote_name(table + '_v')} WHERE node = ${node} ORDER BY id`, columns))
}

// Types that come: see tables.sh for the query. The last column is text, as numbers of
// both sorts do not go together in it.
async function check_query() {
  const path = directory + '/query.parquet'
  const types = path => parquetSchema(parquetMetadata(bytes_of(path))).children
    .map(({ element }) => `${element.name} ${element.type} ${element.converted_type}`).join(', ')
  want(types(path) === 'i INT64 undefined, r DOUBLE undefined, t BYTE_ARRAY UTF8, ' +
    'b BYTE_ARRAY undefined, n BYTE_ARRAY UTF8, i_2 BYTE_ARRAY UTF8', 'types of the query')
  want(types(directory + '/empty.parquet') === 'id INT64 undefined, send_ns INT64 undefined, ' +
    'node BYTE_ARRAY UTF8, rate_ppb DOUBLE undefined, half BYTE_ARRAY UTF8, ' +
    'whole INT64 undefined, text BYTE_ARRAY UTF8', 'types without rows')
  const hex = text => 'bytes ' + Buffer.from(text, 'latin1').toString('hex')
  const wanted = [
    ['integer 1', real(2), hex('x'), hex('\x00\xff'), 'null', hex('9007199254740993')],
    ['integer -9223372036854775808', real(0.1), hex('5'), hex('text'), 'null', hex('0.5')],
    ['null', 'null', hex('2.0'), hex('7'), 'null', 'null']]
  for (const rows of [await by_hyparquet(path),
    await by_duckdb(`SELECT * FROM read_parquet(${quote_text(path)})`)])
    want(JSON.stringify(rows.map(row => row.map(value))) === JSON.stringify(wanted), 'query')
  want(fs.readFileSync(directory + '/query.csv', 'utf8') === 'i,r,t,b,n,i_2\r\n' +
    '1,2,x,00ff,,9007199254740993\r\n-9223372036854775808,0.1,5,text,,0.5\r\n' +
    ',,2.0,7,,\r\n', 'csv of the query')
}

const tables = execFileSync('sqlite3', ['-readonly', timeline, `SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`], { encoding: 'utf8' })
  .trim().split('\n')
want(tables.length > 20, 'tables')
want(fs.readdirSync(directory + '/parquet').length === tables.length + 1, 'files')
for (const table of tables) {
  await check_table(table)
  const columns = columns_of(table).map(c => c.name)
  check_csv(`${directory}/csv/${table}.csv`, columns,
    ask(`SELECT * FROM ${quote_name(table)}`, columns))
}
await check_direct()
await check_utc('event', ['ts_ns'])
await check_utc('message', ['send_ns', 'recv_ns'])
await check_dataset()
await check_query()
console.log(compared, 'values')
