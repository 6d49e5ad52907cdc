// SPDX-License-Identifier: GPL-3.0-or-later
//
// node tracekit.mjs DIR: are the files below DIR those of tracekit.sh's run, every member
// of every record?
import fs from 'node:fs'
import path from 'node:path'

const root = process.argv[2]
const T = 1795228730000 // ms
const all = (node, name) => {
  const text = fs.readFileSync(path.join(root, node, name), 'utf8')
  return name.endsWith('.jsonl')
    ? text.split('\n').slice(0, -1).map(line => JSON.parse(line)) : JSON.parse(text)
}
const sorted = value => Array.isArray(value) ? value.map(sorted)
  : value && typeof value === 'object'
    ? Object.fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])])) : value
let failed = 0

function same(node, name, wanted) {
  const have = JSON.stringify(sorted(all(node, name)))
  const right = JSON.stringify(sorted(wanted))
  if (have === right)
    return
  console.log(`${node}/${name}: ${have}\nwant ${right}`)
  failed++
}

const stage = 'edge'
same('a', 'node_meta.json', { run_id: 'job "7"', node: 'a', stage, host: 'host-a', iface: 'eth1',
  cpu_cores: 4, mem_mb: 15998, cpu_model: 'Model X', cpu_freq_mhz: 2399.5 })
same('a', 'link_meta.json', { iface: 'eth1', BW_bps: null, PR_s: null })
same('a', 'cctf/nodes.json', [{ node_id: 'a', stage, cpu_cores: 4, mem_mb: 15998,
  cpu_model: 'Model X', cpu_freq_mhz: 2399.5 }])
same('a', 'cctf/links.json', [{ u: 'a', v: 'a.net', BW_bps: null, PR_s: null }])
same('a', 'cctf/invocations.jsonl', [
  { trace_id: 't-1', span_id: 's1', parent_id: 'p0', module_id: 'encode', instance_id: 'pid-17',
    method: 'POST', path: '/x', bytes_in: 5, bytes_out: 9, ts_enqueue: T, ts_start: T + 100,
    ts_end: T + 2200, queue_time_ms: 100, service_time_ms: 2100, rt_ms: 2200, node: 'a', stage,
    pid: 17, status: 0 },
  { trace_id: 'invocation-2', span_id: 'invocation-2', parent_id: null, module_id: 'encode',
    instance_id: 'pid-18', method: null, path: null, bytes_in: null, bytes_out: 77,
    ts_enqueue: T + 500, ts_start: T + 500, ts_end: null, queue_time_ms: 0, node: 'a', stage,
    pid: 18, status: 'failed' }])
same('a', 'cctf/placement_events.jsonl', [
  { ts: T + 100, app_id: 'encode', module_id: 'encode', instance_id: 'pid-17', node_id: 'a',
    event: 'start', stage },
  { ts: T + 2200, app_id: 'encode', module_id: 'encode', instance_id: 'pid-17', node_id: 'a',
    event: 'stop', stage },
  { ts: T + 500, app_id: 'encode', module_id: 'encode', instance_id: 'pid-18', node_id: 'a',
    event: 'start', stage }])
same('a', 'cctf/system_stats.jsonl', [[0, 1], [1000, 2], [2000, 2], [3000, 1]].map(([at, value]) =>
  ({ ts_ms: T + at, node: 'a', stage, metric: 'in_flight', value, instance_id: 'a' })))
same('a', 'cctf/proc_metrics.jsonl', [
  { ts_ms: T + 200, pid: 17, rss_kb: 1000, utime: 12, stime: 3 },
  { ts_ms: T + 400, pid: 17, rss_kb: 1100, utime: 22, stime: 5 },
  { ts_ms: T + 400, pid: 18, utime: 0, stime: 0 },
  { ts_ms: T + 600, pid: 17, rss_kb: 900, utime: 1, stime: 0 }])
// 123.4 + 30.0, then 223.9 + 50.2 ms; what is cut off one is in the next. Then the pid is
// another process's.
same('a', 'cctf/proc_cpu.jsonl', [{ ts_ms: T + 400, pid: 17, cpu_ms: 121, dt_ms: 200 }])
same('a', 'cctf/proc_rss.jsonl', [[200, 1000], [400, 1100], [600, 900]].map(([at, rss_kb]) =>
  ({ ts_ms: T + at, pid: 17, rss_kb })))
same('a', 'cctf/host_metrics.jsonl', [
  { ts_ms: T + 1000, node: 'a', stage, cpu_util: 25 },
  { ts_ms: T + 1000, node: 'a', stage, mem_free_mb: 500 },
  { ts_ms: T + 2000, node: 'a', stage, cpu_util: 90.5 }])
same('a', 'cctf/link_metrics.jsonl', [
  { ts_ms: T + 1000, node: 'a', stage, link: 'a.eth0', rx_Bps: 0, tx_Bps: 1024 },
  { ts_ms: T + 1000, node: 'a', stage, link: 'a.nic', rx_Bps: 2560, tx_Bps: 10240 }])
same('b', 'node_meta.json', { run_id: 'job "7"', node: 'b', stage, host: null, iface: null,
  cpu_cores: null, mem_mb: null, cpu_model: null, cpu_freq_mhz: null })
same('b', 'cctf/proc_cpu.jsonl', [{ ts_ms: T + 400, pid: 17, cpu_ms: 7, dt_ms: 200 }])
for (const name of ['invocations', 'host_metrics', 'link_metrics', 'placement_events',
  'system_stats'])
  same('b', `cctf/${name}.jsonl`, [])
process.exit(failed ? 1 : 0)
