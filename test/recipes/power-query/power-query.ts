import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface QueryRun {
  /** The text of the query. */
  file: string
  /** The parameters that a user defines for the query. */
  parameters: Readonly<Record<string, string>>
}

export interface QueryOutcome {
  columns: string[]
  rows: unknown[][]
  /** What the query raised. */
  error: string | null
}

/**
 * Runs a Power Query query with Microsoft's parser and the project's interpreter for the part of M
 * that the recipe uses. Requests are real.
 */
export async function runPowerQuery(run: QueryRun): Promise<QueryOutcome> {
  const program = new URL('power-query-run.ts', import.meta.url)
  const worker = new Worker(program, { workerData: run })
  const [outcome] = (await once(worker, 'message')) as [QueryOutcome]
  await worker.terminate()
  return outcome
}
