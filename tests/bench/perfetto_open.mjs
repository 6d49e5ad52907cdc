// SPDX-License-Identifier: GPL-3.0-or-later
//
// node perfetto_open.mjs PROCESSOR TRACE...: how long Perfetto's trace processor takes to
// open each trace, and what it finds: slices, arrows, values, and complaints.
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

const [processor, ...traces] = process.argv.slice(2)
const here = fileURLToPath(new URL('.', import.meta.url))
const { openTrace } = await import(`${here}../readers/trace_processor.mjs`)
const COUNTS = {
  slices: 'SELECT count(*) AS n FROM slice',
  arrows: 'SELECT count(*) AS n FROM flow',
  values: 'SELECT count(*) AS n FROM counter',
  complaints: `SELECT count(*) AS n FROM stats WHERE severity <> 'info' AND value > 0`,
}

for (const file of traces) {
  const begin = performance.now(), cpu = process.cpuUsage()
  const trace = await openTrace(processor, file)
  const words = []
  for (const [what, sql] of Object.entries(COUNTS))
    words.push(`${(await trace.query(sql))[0].n} ${what}`)
  const { user, system } = process.cpuUsage(cpu)
  console.log(file.replace(/.*\//, '').padEnd(16),
    `${((performance.now() - begin) / 1000).toFixed(2)} s`.padStart(8),
    `${((user + system) / 1e6).toFixed(2)} s CPU`.padStart(12),
    `${(fs.statSync(file).size / 1e6).toFixed(1)} MB`.padStart(9), words.join(', '))
  trace.close()
}
process.exit(0) // its workers do not end
