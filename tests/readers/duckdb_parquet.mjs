// SPDX-License-Identifier: GPL-3.0-or-later
//
// node duckdb_parquet.mjs PARQUET-DUMP SEED...: DuckDB writes tables of every type by
// every codec and both versions of pages; is what PARQUET-DUMP reads what was written?
import { execFileSync } from 'node:child_process'
import { DuckDBInstance } from '@duckdb/node-api'

const [dump, ...seeds] = process.argv.slice(2)
const CODECS = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw']

// Values by chance from a hash of the row, the column and the seed.
const draw = (i, of) => `(hash(r * 1000 + ${i} + seed) % ${of})`
const maybe = (i, value) => `CASE WHEN ${draw(i + 50, 7)} = 0 THEN NULL ELSE ${value} END`
const integer = i => `CASE WHEN few THEN ${draw(i, 5)}::BIGINT
  ELSE (hash(r + ${i} + seed) >> 1)::BIGINT * (1 - 2 * ${draw(i + 1, 2)}::BIGINT) END`
const text = i => `CASE WHEN few THEN 'same ' || ${draw(i, 4)} ELSE
  repeat('é' || r, (${draw(i, 30)})::INTEGER) END`
const COLUMNS = {
  flag: maybe(1, `${draw(2, 2)} = 1`),
  small: maybe(3, `(${integer(4)} % 2147483647)::INTEGER`),
  rising: `(r * 1000 + ${draw(5, 9)})::BIGINT`,
  big: maybe(6, integer(7)),
  narrow: maybe(8, `(${draw(9, 100000)} / 7)::FLOAT`),
  wide: maybe(10, `CASE WHEN few THEN ${draw(11, 3)} ELSE sqrt(${draw(11, 100000)}) END::DOUBLE`),
  word: maybe(12, text(13)),
  bytes: maybe(14, `encode(${text(15)})`),
  moment: maybe(16, `make_timestamp_ms((${draw(17, 1 << 30)} * 1000)::BIGINT)`),
  id: maybe(18, `md5(r || '')::UUID`),
  numbers: maybe(19, `list_transform(range((${draw(20, 5)})::BIGINT),
    x -> CASE WHEN (x + r) % 4 = 0 THEN NULL ELSE (x * r)::INTEGER END)`),
  words: maybe(21, `list_transform(range((${draw(22, 4)})::BIGINT), x -> 'w' || (x * r))`),
}

function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

// What was written, in the words of PARQUET-DUMP, by DuckDB's own functions.
const AS_TEXT = {
  flag: 'flag::INTEGER::VARCHAR',
  moment: 'epoch_us(moment)::VARCHAR',
  word: 'hex(word)', bytes: 'hex(bytes)', id: `replace(id::VARCHAR, '-', '')`,
  numbers: 'list_transform(numbers, x -> x::VARCHAR)',
  words: 'list_transform(words, x -> hex(x))',
}
const buffer = new DataView(new ArrayBuffer(8))

function real(name, value) {
  if (value === null)
    return null
  if (name === 'narrow') {
    buffer.setFloat32(0, value)
    return buffer.getUint32(0).toString(16).padStart(8, '0')
  }
  buffer.setFloat64(0, value)
  return buffer.getBigUint64(0).toString(16).padStart(16, '0')
}

async function expected(connection, name) {
  if (name === 'narrow' || name === 'wide') {
    const found = await connection.runAndReadAll(`SELECT ${name} FROM t ORDER BY r`)
    return found.getRows().map(row => real(name, row[0]))
  }
  const sql = AS_TEXT[name] ?? `${name}::VARCHAR`
  const found = await connection.runAndReadAll(`SELECT ${sql} FROM t ORDER BY r`)
  const lower = v => typeof v === 'string' ? v.toLowerCase() : v
  return found.getRows().map(([v]) => v && v.items ? v.items.map(lower) : lower(v))
}

function compare(file, lines, wanted) {
  const names = Object.keys(COLUMNS)
  names.forEach((name, i) => {
    const leaf = JSON.parse(lines[i])
    want(leaf.name === name && leaf.top === 1, file, name, lines[i])
    want(leaf.list === Number(name.endsWith('s') && name !== 'bytes'), file, name, 'list')
    const rows = JSON.parse(lines[names.length + i])
    want(rows.length === wanted[name].length, file, name, rows.length, 'rows, want',
      wanted[name].length)
    rows.forEach((value, j) => {
      const have = JSON.stringify(value), should = JSON.stringify(wanted[name][j])
      want(have === should, file, name, 'row', j, have?.slice(0, 80), 'want',
        should?.slice(0, 80))
    })
  })
}

async function try_seed(connection, seed) {
  const rows = [0, 1, 3000, 7001][seed % 4]
  await connection.run(`CREATE OR REPLACE TABLE t AS SELECT r, ${
    Object.entries(COLUMNS).map(([name, sql]) => `${sql} AS ${name}`).join(', ')}
    FROM (SELECT range AS r, ${seed} AS seed, ${seed % 3 === 0} AS few FROM range(${rows}))`)
  const wanted = {}
  for (const name of Object.keys(COLUMNS))
    wanted[name] = await expected(connection, name)
  for (const codec of CODECS)
    for (const version of ['v1', 'v2']) {
      const file = `${seed}-${codec}-${version}.parquet`
      await connection.run(`COPY (SELECT * EXCLUDE (r) FROM t ORDER BY r) TO '${file}'
        (FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version},
        ROW_GROUP_SIZE ${2048 * (1 + seed % 2)})`)
      const text = execFileSync(dump, [file], { maxBuffer: 1 << 28 }).toString()
      compare(file, text.trim().split('\n'), wanted)
    }
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()
for (const seed of seeds)
  await try_seed(connection, Number(seed))
console.log(`${seeds.length} tables, ${seeds.length * CODECS.length * 2} files`)
