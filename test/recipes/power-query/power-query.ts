import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface QueryRun {
  /** The text of the query. */
  file: string
  /** The parameters that a person makes beside it. */
  parameters: Readonly<Record<string, string>>
}

export interface QueryOutcome {
  columns: string[]
  rows: unknown[][]
  /** What the query raised. */
  error: string | null
}

/**
 * Runs a query of Power Query on what there is of it for Linux: Microsoft's parser, and an interpreter of ours
 * for the part of M that the recipe uses. Requests go out.
 */
export async function runPowerQuery(run: QueryRun): Promise<QueryOutcome> {
  const program = new URL('power-query-run.ts', import.meta.url)
  const worker = new Worker(program, { workerData: run })
  const [outcome] = (await once(worker, 'message')) as [QueryOutcome]
  await worker.terminate()
  return outcome
}
