import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { type CheckReport, checkIndex } from '../../indexing/consistency-check/check-index.ts'
import type { SourceEntry } from '../../indexing/consistency-check/compare-orders.ts'
import type { IndexInspection } from '../../indexing/consistency-check/index-inspection.ts'
import {
  entriesFromLines,
  entriesFromStream,
} from '../../indexing/consistency-check/source-entries.ts'
import type { StreamInspection } from '../../indexing/consistency-check/stream-inspection.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { openStreamInspection } from '../../services.ts'
import { integer } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import type { JsonFlag } from '../output.ts'
import { abortOnSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
import { isConsistent, printReport } from './check-report.ts'
import { openInput } from './load-input.ts'
import { createProgress, type Progress } from './progress.ts'
import { rejectionText, secondsSince } from './summary.ts'

interface CheckFlags extends JsonFlag {
  examples: number
}

const EXAMPLES = 100
const NO_STREAM =
  'no change stream, because none of KAFKA_BROKERS, STREAM_REDIS_URL and REDIS_URL is set: only the index is checked'
const NO_INPUT = { bytesRead: () => 0, totalBytes: null }

/** `index check`. */
export function addCheck(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  index
    .command('check')
    .description(
      'compare the index with source orders; without a file, with its own version records and the change stream',
    )
    .argument('[file]', 'the expected orders: a file, or - for standard input')
    .option('--examples <n>', 'maximum number of inconsistencies to list', integer(0), EXAMPLES)
    .option('--json', 'print the report as JSON')
    .action(async (file: string | undefined, { examples, json }: CheckFlags) =>
      withServices(async ({ inspection }, config) => {
        const check = { inspection, examples, signal: abortOnSignal(context), context }
        const startedAt = monotonicClock()
        const report = await (file === undefined
          ? checkStream(check, await openStreamInspection(config))
          : checkFile(check, file))
        printReport({ ...report, seconds: secondsSince(startedAt) }, json ?? false, context)
        if (!isConsistent(report)) context.setFailed()
      }),
    )
}

interface CheckContext {
  inspection: IndexInspection
  examples: number
  signal: AbortSignal
  context: CommandContext
}

async function checkFile(context: CheckContext, file: string): Promise<CheckReport> {
  const input = await openInput(file, context.context.stdin, context.signal)
  const progress = createProgress(context.context.stderr, input, monotonicClock)
  try {
    return await check(context, entriesFromLines(input.chunks), true, progress)
  } finally {
    input.close()
  }
}

async function checkStream(
  context: CheckContext,
  stream: StreamInspection | null,
): Promise<CheckReport> {
  const progress = createProgress(context.context.stderr, NO_INPUT, monotonicClock)
  try {
    if (stream === null) progress.printLine(NO_STREAM)
    return await check(context, stream === null ? [] : entriesFromStream(stream), false, progress)
  } finally {
    stream?.close()
  }
}

async function check(
  { inspection, examples: maxExamples, signal }: CheckContext,
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  isWhole: boolean,
  progress: Progress,
): Promise<CheckReport> {
  const reportOrders = createMilestones(progress, 'version records')
  const reportDocuments = createMilestones(progress, 'documents')
  try {
    return await checkIndex({
      inspection,
      entries,
      isWhole,
      maxExamples,
      pause: (ms) => setTimeout(ms, undefined, { signal }),
      onRejected: (place, error) => progress.printLine(rejectionText(place, error)),
      onProgress({ knownOrders, documents, ...counts }) {
        signal.throwIfAborted()
        if (knownOrders + documents === 0) progress.update(counts)
        reportOrders(knownOrders)
        reportDocuments(documents)
      },
    })
  } catch (error) {
    if (signal.aborted) throw new Error('interrupted', { cause: error })
    throw error
  } finally {
    progress.end()
  }
}

const MILESTONE = 100_000

/** Prints a line per 100,000: the total is unknown, so a percentage is not possible. */
function createMilestones(progress: Progress, what: string): (count: number) => void {
  let next = MILESTONE
  return (count) => {
    if (count < next) return
    progress.printLine(`checked ${count} ${what}`)
    next = count + MILESTONE
  }
}
