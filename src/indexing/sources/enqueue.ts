import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../lib/backoff.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { isValidationError, type ValidationError } from '../projection/change.ts'
import { type BatchLimits, inBatches } from './batches.ts'
import type { ChangeStream } from './change-stream.ts'
import { parseLines } from './parsed-lines.ts'

/** What became of the lines that were handed over. */
export interface EnqueueSummary {
  /** Lines that were not blank. */
  read: number
  handed_over: number
  refused: number
}

export interface EnqueueOptions {
  stream: Pick<ChangeStream, 'append' | 'backlog'>
  /** The first line that is handed over, counted from 1. */
  fromLine?: number
  /** Told of every refused line, in their order. */
  onRefused(lineNumber: number, error: ValidationError): void
  /** Told after every batch, with the number of its last line: all up to there is in the stream. */
  onProgress(summary: Readonly<EnqueueSummary>, lineNumber: number): void
  /** Told why nothing is handed over for a while, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal: AbortSignal
}

const BATCH: BatchLimits = { entries: 500, bytes: 4 * 1024 * 1024 }
/** Some hundred megabytes of orders: a stream lives in memory. */
const MAX_BACKLOG = 100_000
const BACKLOG_PAUSE_MS = 500
const RETRY_DEADLINE_MS = 300_000

/**
 * Puts NDJSON source orders into the stream of changes, each as it stands in its line. A line that does
 * not hold an order is told and passed over; memory stays bounded, here and in the stream.
 * @throws Unavailable once it has been tried for long; Error when `signal` ends the waiting
 */
export async function enqueue(
  input: AsyncIterable<Buffer>,
  { stream, fromLine = 1, onRefused, onProgress, onDelay, signal }: EnqueueOptions,
): Promise<EnqueueSummary> {
  const summary = { read: 0, handed_over: 0, refused: 0 }
  for await (const batch of inBatches(parseLines(input, fromLine), BATCH)) {
    await waitForCapacity()
    const orders = batch.flatMap(({ line, result }) =>
      isValidationError(result) ? [] : (line ?? []),
    )
    await retryUnavailable(() => stream.append(orders))
    for (const { lineNumber, result } of batch) {
      summary.read++
      if (isValidationError(result)) {
        summary.refused++
        onRefused(lineNumber, result)
      } else summary.handed_over++
    }
    onProgress(summary, batch.at(-1)?.lineNumber ?? 0)
  }
  return summary

  async function waitForCapacity(): Promise<void> {
    const hasCapacity = async () => (await retryUnavailable(() => stream.backlog())) < MAX_BACKLOG
    if (await hasCapacity()) return
    onDelay(
      `${MAX_BACKLOG} changes wait in the stream: going on once "index watch" has written some of them`,
    )
    do await pause(BACKLOG_PAUSE_MS, undefined, { signal }).catch(throwInterrupted)
    while (!(await hasCapacity()))
  }

  /** Lines that are put in twice are harmless: a version that was written counts as older. */
  async function retryUnavailable<T>(work: () => Promise<T>): Promise<T> {
    const deadlineAt = performance.now() + RETRY_DEADLINE_MS
    for (let attempts = 1; ; attempts++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Unavailable) || performance.now() > deadlineAt) throw error
        if (attempts === 1) onDelay(`${error.message}; trying again`)
      }
      await pause(backoffMs(attempts), undefined, { signal }).catch(throwInterrupted)
    }
  }
}

function throwInterrupted(cause: unknown): never {
  throw new Error('interrupted', { cause })
}
