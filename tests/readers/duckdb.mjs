#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Stands in for the program `duckdb`, of which ctanalyze --tables uses this:
// duckdb -init /dev/null -batch -bail :memory: <SCRIPT
import fs from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

if (process.argv.slice(2).join(' ') !== '-init /dev/null -batch -bail :memory:')
  throw new Error(`arguments: ${process.argv.slice(2)}`)
const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
try {
  for (const statement of fs.readFileSync(0, 'utf8').split('\n'))
    if (statement) await connection.run(statement)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
