// SPDX-License-Identifier: GPL-3.0-or-later
//
// node parquet_duckdb.mjs CSV PARQUET: what DuckDB takes to write the same rows,
// from the CSV and, without reading it, from a table in memory.
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [csv, parquet] = process.argv.slice(2)
const COLUMNS = `{'id': 'BIGINT', 'ts_ns': 'BIGINT', 'node': 'VARCHAR', 'cpu': 'INTEGER',
  'tid': 'BIGINT', 'class': 'VARCHAR', 'comm': 'VARCHAR', 'skbaddr': 'BIGINT', 'load': 'DOUBLE'}`
const READ = `FROM read_csv('${csv}', header = false, columns = ${COLUMNS})`

async function measure(name, connection, rows, sql) {
  const begin = performance.now(), cpu_begin = process.cpuUsage()
  await connection.run(sql)
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpu_begin)
  const cpu = (user + system) / 1e6
  console.log(name.padEnd(28), seconds.toFixed(2).padStart(6), 's',
    cpu.toFixed(2).padStart(6), 's CPU', (rows / cpu).toFixed(0).padStart(10), 'rows/s CPU',
    String(fs.statSync(parquet).size).padStart(10), 'bytes')
}

for (const threads of ['1', '2']) {
  const instance = await DuckDBInstance.create(':memory:', { threads })
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE t AS ${READ}`)
  const count = await connection.runAndReadAll('SELECT count(*) FROM t')
  const rows = Number(count.getRows()[0][0])
  for (const codec of ['zstd', 'snappy', 'uncompressed']) {
    const to = `TO '${parquet}' (FORMAT parquet, COMPRESSION ${codec})`
    await measure(`duckdb, ${threads} threads, csv ${codec}`, connection, rows, `COPY (${READ}) ${to}`)
    await measure(`  from a table`, connection, rows, `COPY t ${to}`)
  }
}
