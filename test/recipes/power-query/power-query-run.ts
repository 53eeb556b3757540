import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import parser from '@microsoft/powerquery-parser'
import { openBlockingFetch } from '../blocking-fetch.ts'
import { evaluate } from './evaluate.ts'
import { createLibrary } from './library.ts'
import type { QueryOutcome, QueryRun } from './power-query.ts'
import { MError, Table, type Value } from './values.ts'
import { createWebContents } from './web.ts'

// A separate thread: M evaluates synchronously, so each request blocks until its response arrives.
const { file, parameters } = workerData as QueryRun
const { DefaultSettings, TaskUtils } = parser
const blocking = openBlockingFetch()

const sleep = (ms: number) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** @throws Error for invalid M; MError for an error that M raises */
async function run(): Promise<Table> {
  const task = await TaskUtils.tryLexParse(DefaultSettings, await readFile(file, 'utf8'))
  if (!TaskUtils.isParseStageOk(task)) throw new Error(`${file} is no M`, { cause: task })
  const library = createLibrary({ contents: createWebContents({ ...blocking, sleep }), sleep })
  const names = Object.entries({ ...library, ...parameters } as Record<string, Value>)
  const value = evaluate(task.ast, new Map(names.map(([name, it]) => [name, () => it])))
  if (!(value instanceof Table)) throw new Error('the query makes no table')
  return value
}

const outcome: QueryOutcome = await run().then(
  ({ columns, rows }) => ({
    columns: columns.map(({ name }) => name),
    rows: rows as unknown[][],
    error: null,
  }),
  (error: unknown) => {
    if (!(error instanceof MError)) throw error
    return { columns: [], rows: [], error: error.message }
  },
)
parentPort?.postMessage(outcome)
await blocking.close()
