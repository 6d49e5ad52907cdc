// SPDX-License-Identifier: GPL-3.0-or-later
//
// node sql.mjs TEXTS.jsonl COUNT: does DuckDB read each text as one statement with these strings?
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [path, count] = process.argv.slice(2)
const texts = fs.readFileSync(path, 'utf8').split('\n').filter(line => line)
  .map(line => JSON.parse(line))
const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()

let ran = 0, failed = 0
const tell = (text, what) => {
  failed++
  console.log(`${what} for DuckDB: ${JSON.stringify(text)}`)
}
for (const text of texts) {
  let row
  try { // what DuckDB refuses does not run
    const statements = await connection.extractStatements(text.sql)
    if (statements.count !== 1) {
      tell(text, `${statements.count} statements`)
      continue
    }
    row = (await connection.runAndReadAll(text.sql)).getRows()[0]
  } catch {
    continue
  }
  ran++
  if (text.columns && text.columns.length !== row.length)
    tell(text, 'another number of columns')
  else if (text.columns?.some((string, i) => string !== null && string !== row[i]))
    tell(text, `other strings, ${JSON.stringify(row.map(String))},`)
}
console.log(`${count} texts, ${texts.length} accepted, ${ran} run by DuckDB, ${failed} read differently`)
process.exit(failed || ran * 20 < texts.length ? 1 : 0)
