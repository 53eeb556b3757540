import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { openBlockingFetch } from '../blocking-fetch.ts'
import type { Document, ScriptRun } from './apps-script.ts'
import { createLock } from './lock.ts'
import { Sheet } from './sheet.ts'
import { createUrlFetch } from './url-fetch.ts'

// A separate thread, because an Apps Script blocks until each response has arrived.
const { file, call, document, requestMs, sortedAt, lock } = workerData as ScriptRun
const { properties, sheets, triggers } = document as Document
const warnings: string[] = []
const blocking = openBlockingFetch()

/** The script's clock, which advances during sleeps and requests. */
let nowMs = Date.now()
class Clock extends Date {
  constructor(value: string | number = nowMs) {
    super(value)
  }
  static override now() {
    return nowMs
  }
}

let requests = 0
function reverseRows() {
  for (const grid of Object.values(sheets)) grid?.push(...grid.splice(1).reverse())
}

const services = {
  Date: Clock,
  console: { warn: (line: string) => warnings.push(line) },
  PropertiesService: {
    getScriptProperties: () => ({
      getProperty: (name: string) => properties[name] ?? null,
      setProperty: (name: string, value: string) => {
        properties[name] = value
      },
      deleteProperty: (name: string) => Reflect.deleteProperty(properties, name),
    }),
  },
  LockService: { getScriptLock: () => createLock(lock) },
  ScriptApp: {
    getProjectTriggers: () => triggers.map((name) => ({ getHandlerFunction: () => name })),
    deleteTrigger: () => triggers.pop(),
    newTrigger: (name: string) => ({
      timeBased: () => ({ everyMinutes: () => ({ create: () => triggers.push(name) }) }),
    }),
  },
  SpreadsheetApp: {
    flush() {},
    getActiveSpreadsheet: () => ({
      getSheetByName: (name: string) => (sheets[name] ? new Sheet(sheets[name]) : null),
      insertSheet: (name: string) => {
        sheets[name] = []
        return new Sheet(sheets[name])
      },
    }),
  },
  Utilities: {
    sleep: (ms: number) => {
      nowMs += ms
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    },
  },
  UrlFetchApp: {
    fetch: createUrlFetch((url, headers) => {
      nowMs += requestMs
      requests += 1
      if (requests === sortedAt) reverseRows()
      return blocking.fetch(url, headers)
    }),
  },
}

let error: string | null = null
try {
  const context = createContext(services)
  runInContext(readFileSync(file, 'utf8'), context, { filename: file })
  runInContext(`${call}()`, context)
} catch (thrown) {
  error = String(thrown)
}
parentPort?.postMessage({ error, warnings, document: { properties, sheets, triggers } })
await blocking.close()
