import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { openBlockingFetch } from '../blocking-fetch.ts'
import type { Document, ScriptRun } from './apps-script.ts'
import { createLock } from './lock.ts'
import { type Grid, NEW_COLUMNS, Sheet } from './sheet.ts'
import { createUrlFetch } from './url-fetch.ts'

// A separate thread, because an Apps Script blocks until each response has arrived.
const { file, call, document, requestMs, edit, lock } = workerData as ScriptRun
const { properties, sheets, columns, triggers } = document as Document
const warnings: string[] = []
const reads: number[] = []
const open = (name: string, grid: Grid) =>
  new Sheet({ name, grid, columns, onRead: (rows) => reads.push(rows) })
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
const edits = {
  sort: (grid: Grid) => grid.push(...grid.splice(1).reverse()),
  delete: (grid: Grid) => grid.splice(1, 50),
}
function editSheets({ change }: NonNullable<ScriptRun['edit']>) {
  for (const grid of Object.values(sheets)) if (grid) edits[change](grid)
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
      getSheetByName: (name: string) => (sheets[name] ? open(name, sheets[name]) : null),
      insertSheet: (name: string) => {
        sheets[name] = []
        columns[name] = NEW_COLUMNS
        return open(name, sheets[name])
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
      if (!url.includes('/v1/account')) requests += 1
      if (edit && requests === edit.request) editSheets(edit)
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
parentPort?.postMessage({
  error,
  warnings,
  reads,
  document: { properties, sheets, columns, triggers },
})
await blocking.close()
