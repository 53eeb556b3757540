import { interruptiblePause } from '../../lib/async/interruptible-pause.ts'
import { retryUntilDeadline } from '../../lib/async/retry-until-deadline.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { isValidationError, type ValidationError } from '../projection/change.ts'
import type { ChangeStream } from './change-stream.ts'
import { type BatchLimits, inBatches, type ParsedLine, parseLines } from './ndjson.ts'

/** The counts of an enqueue. */
export interface EnqueueSummary {
  /** Lines that were not blank. */
  read: number
  handed_over: number
  refused: number
}

export interface EnqueueOptions {
  stream: Pick<ChangeStream, 'append' | 'backlog'>
  /** The first line to append, counted from 1. */
  fromLine?: number
  /** Called for each rejected line, in their order. */
  onRejected(lineNumber: number, error: ValidationError): void
  /** Called after each batch with its last line number: the stream has every line up to it. */
  onProgress(summary: Readonly<EnqueueSummary>, lineNumber: number): void
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Ends a wait for the stream. */
  signal: AbortSignal
}

/** The size of one append. */
export const ENQUEUE_BATCH: BatchLimits = { entries: 500, bytes: 4 * 1024 * 1024 }
/** Some hundred megabytes of orders, since Redis keeps the stream in memory. */
const MAX_BACKLOG = 100_000
const BACKLOG_PAUSE_MS = 500
const RETRY_DEADLINE_MS = 5 * MINUTE_MS

/**
 * Appends NDJSON source orders to the change stream, each with the bytes of its line. Rejected
 * lines are reported and skipped. Memory stays bounded, here and in the stream.
 * @throws Unavailable after the retry deadline; Error when `signal` aborts a wait
 */
export async function enqueue(
  input: AsyncIterable<Buffer>,
  { stream, fromLine = 1, onRejected, onProgress, onDelay, signal }: EnqueueOptions,
): Promise<EnqueueSummary> {
  const summary = { read: 0, handed_over: 0, refused: 0 }
  const append = createStreamAppender({ stream, onDelay, signal })
  for await (const batch of inBatches(parseLines(input, fromLine), ENQUEUE_BATCH)) {
    const errors = await append(batch)
    for (const [position, { lineNumber }] of batch.entries()) {
      summary.read++
      const error = errors[position]
      if (error) {
        summary.refused++
        onRejected(lineNumber, error)
      } else summary.handed_over++
    }
    onProgress(summary, batch.at(-1)?.lineNumber ?? 0)
  }
  return summary
}

export interface StreamAppenderOptions
  extends Pick<EnqueueOptions, 'stream' | 'onDelay' | 'signal'> {
  /** Called when the stream has no capacity, and when it has again. */
  onFull?(isFull: boolean): void
}

/**
 * Returns a function that appends the lines that are not rejected, once the stream has capacity. It
 * returns the error of each line, also of one that the stream rejects; `null` of an appended one.
 * It throws Unavailable after the retry deadline, and Error when `signal` aborts a wait.
 */
export function createStreamAppender({
  stream,
  onDelay,
  signal,
  onFull = () => {},
}: StreamAppenderOptions): (lines: readonly ParsedLine[]) => Promise<(ValidationError | null)[]> {
  return async (lines) => {
    await waitForCapacity()
    const errors = lines.map(({ result }) => (isValidationError(result) ? result : null))
    const positions = [...errors.keys()].filter((position) => errors[position] === null)
    const orders = positions.flatMap((position) => lines[position]?.line ?? [])
    const rejected = await retry(() => stream.append(orders))
    for (const [at, position] of positions.entries()) errors[position] = rejected.get(at) ?? null
    return errors
  }

  async function waitForCapacity(): Promise<void> {
    const hasCapacity = async () => (await retry(() => stream.backlog())) < MAX_BACKLOG
    if (await hasCapacity()) return
    onFull(true)
    onDelay(
      `${MAX_BACKLOG} changes wait in the stream: continuing once "index watch" has written some of them`,
    )
    do await interruptiblePause(BACKLOG_PAUSE_MS, signal, 'the stream was full')
    while (!(await hasCapacity()))
    onFull(false)
  }

  /** A repeated append is harmless: the second copy of a version counts as older. */
  function retry<T>(work: () => Promise<T>): Promise<T> {
    return retryUntilDeadline(
      {
        deadlineMs: RETRY_DEADLINE_MS,
        activity: 'the stream was unavailable',
        signal,
        onRetry({ message }, failures) {
          if (failures === 1) onDelay(`${message}; retrying`)
        },
      },
      work,
    )
  }
}
