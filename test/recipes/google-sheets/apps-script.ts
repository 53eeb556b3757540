import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Grid } from './sheet.ts'

/** A spreadsheet and the script in it, as Google keeps them between two runs. */
export interface Document {
  properties: Record<string, string | undefined>
  sheets: Record<string, Grid | undefined>
  /** The functions that are called by time. */
  triggers: string[]
}

export interface ScriptRun {
  /** The script. */
  file: string
  /** The function that is run. */
  call: string
  document: Document
  /** How long a request takes, on the clock of the script. */
  requestMs: number
  /** The lock of the script, which all its runs share: 1 while one of them has it. */
  lock: Int32Array<SharedArrayBuffer>
}

interface Outcome {
  document: Document
  /** What the function threw. */
  error: string | null
  warnings: string[]
}

/**
 * Runs a function of a script as Google would, with stand-ins for its services: requests go out, a sheet is a
 * grid, and the document that comes back is the one for the next run.
 */
export async function runAppsScript(run: ScriptRun): Promise<Outcome> {
  const program = new URL('apps-script-run.ts', import.meta.url)
  const worker = new Worker(program, { workerData: run })
  const [outcome] = (await once(worker, 'message')) as [Outcome]
  await worker.terminate()
  return outcome
}
