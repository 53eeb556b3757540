import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Grid } from './sheet.ts'

/** The state of a spreadsheet and its script between two runs. */
export interface Document {
  properties: Record<string, string | undefined>
  sheets: Record<string, Grid | undefined>
  /** The number of columns of each sheet, used or not. */
  columns: Record<string, number>
  /** The functions with a time trigger. */
  triggers: string[]
}

export interface ScriptRun {
  /** The script. */
  file: string
  /** The function that is run. */
  call: string
  document: Document
  /** The duration of a request on the script's clock. */
  requestMs: number
  /** A user reverses the rows of every sheet, or deletes 50, during a request of orders; from 1. */
  edit?: { change: 'sort' | 'delete'; request: number } | undefined
  /** The script lock, shared by all runs: 1 while a run holds it. */
  lock: Int32Array<SharedArrayBuffer>
}

interface Outcome {
  document: Document
  /** What the function threw. */
  error: string | null
  warnings: string[]
  /** The number of rows of each read of a sheet. */
  reads: number[]
}

/**
 * Runs a function of a script with stand-ins for Google's services. Requests are real, and a sheet
 * is a grid. The returned document is the input of the next run.
 */
export async function runAppsScript(run: ScriptRun): Promise<Outcome> {
  const program = new URL('apps-script-run.ts', import.meta.url)
  const worker = new Worker(program, { workerData: run })
  const [outcome] = (await once(worker, 'message')) as [Outcome]
  await worker.terminate()
  return outcome
}
