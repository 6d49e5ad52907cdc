// SPDX-License-Identifier: GPL-3.0-or-later
//
// Perfetto's own trace processor, as WebAssembly that Node.js runs: openTrace(DIRECTORY,
// FILE) gives an object whose query(SQL) gives rows; integers may be BigInts.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { pathToFileURL } from 'node:url'

// The glue is made for a browser's worker: what it finds there, and what it asks for.
function prepare(directory) {
  Object.defineProperty(globalThis, 'self', { value: globalThis, configurable: true })
  globalThis.WorkerGlobalScope ??= function WorkerGlobalScope() {}
  Object.defineProperty(globalThis, 'location',
    { value: { href: pathToFileURL(directory).href + '/' }, configurable: true })
  globalThis.processorWasm =
    new Uint8Array(fs.readFileSync(path.join(directory, 'trace_processor.wasm')))
  let glue = fs.readFileSync(path.join(directory, 'engine_bundle.node.js'), 'utf8')
  for (const [old, now] of [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.processorWasm,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
      'const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.processorBridge = wasmBridge;'],
  ]) {
    if (!glue.includes(old))
      throw new Error(`the trace processor's glue has no "${old}"`)
    glue = glue.replace(old, now)
  }
  vm.runInThisContext(glue)
}

export async function openTrace(directory, file) {
  const { EngineBase } = await import(pathToFileURL(path.join(directory, 'engine.mjs')).href)
  console.warn = () => {} // of fields that the engine knows and its decoder does not
  prepare(directory)
  const channel = new MessageChannel()
  class Engine extends EngineBase {
    mode = 'WASM'
    id = 'processor'
    rpcSendRequestBytes(data) { channel.port2.postMessage(data) }
  }
  const engine = new Engine()
  channel.port2.onmessage = message => engine.onRpcResponseBytes(message.data)
  globalThis.processorBridge.initialize(channel.port1)
  const bytes = new Uint8Array(fs.readFileSync(file))
  for (let at = 0; at < bytes.length; at += 1 << 25)
    await engine.parse(bytes.subarray(at, at + (1 << 25)))
  await engine.notifyEof()
  return {
    async query(sql) {
      const result = await engine.query(sql)
      if (result.error())
        throw new Error(result.error())
      const rows = [], columns = result.columns()
      for (const it = result.iter({}); it.valid(); it.next())
        rows.push(Object.fromEntries(columns.map(name => [name, it.get(name)])))
      return rows
    },
    close() { channel.port2.close(); channel.port1.close() },
  }
}
