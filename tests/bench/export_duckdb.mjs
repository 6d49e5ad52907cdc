// SPDX-License-Identifier: GPL-3.0-or-later
//
// node export_duckdb.mjs DIR THREADS: what DuckDB takes to write each DIR/NAME.csv as
// Parquet, zstd, into DIR/duckdb/. It is told the types, so that it need not look for them.
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [directory, threads] = process.argv.slice(2)
const TYPES = { INTEGER: 'BIGINT', REAL: 'DOUBLE', TEXT: 'VARCHAR', BLOB: 'BLOB', '': 'VARCHAR' }
const columns = JSON.parse(fs.readFileSync(`${directory}/columns.json`))
const instance = await DuckDBInstance.create(':memory:', { threads })
const connection = await instance.connect()
const quote = text => `'${text.replaceAll("'", "''")}'`

fs.mkdirSync(`${directory}/duckdb`, { recursive: true })
const begin = performance.now(), cpu_begin = process.cpuUsage()
let bytes = 0
for (const [table, types] of Object.entries(columns)) {
  const list = Object.entries(types).map(([name, type]) =>
    `${quote(name)}: ${quote(TYPES[type])}`).join(', ')
  const parquet = `${directory}/duckdb/${table}.parquet`
  await connection.run(`COPY (FROM read_csv(${quote(`${directory}/${table}.csv`)},
    header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
    new_line = '\\r\\n', columns = {${list}}))
    TO ${quote(parquet)} (FORMAT parquet, COMPRESSION zstd)`)
  bytes += fs.statSync(parquet).size
}
const { user, system } = process.cpuUsage(cpu_begin)
console.log(`duckdb, ${threads} threads, from CSV`.padEnd(30),
  ((performance.now() - begin) / 1000).toFixed(2).padStart(6), 's',
  ((user + system) / 1e6).toFixed(2).padStart(6), 's CPU', String(bytes).padStart(12), 'bytes')
