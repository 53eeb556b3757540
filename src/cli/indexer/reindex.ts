import { type Command, Option } from 'commander'
import { MAX_SHARDS } from '../../config/config.ts'
import type { Reindexing, ReindexSummary } from '../../indexing/reindexing.ts'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { createStatusLine, type Screen } from '../../lib/status-line.ts'
import { integer } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson } from '../output.ts'
import { abortOnSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'

interface ReindexFlags extends JsonFlag {
  shards?: number
  finish?: boolean
  rollback?: boolean
}

const NOT_NEEDED =
  'the embedded store needs no reindex: it migrates its tables at start. Set OPENSEARCH_URL to reindex OpenSearch'

/** `index reindex`. */
export function addReindex(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  index
    .command('reindex')
    .description('rebuild the index without downtime')
    .addOption(new Option('--finish', 'remove the previous index').conflicts('rollback'))
    .option('--rollback', 'switch reads back to the previous index and remove the new one')
    .addOption(
      new Option('--shards <n>', 'primary shards of the new index; default: as many as now')
        .argParser(integer(1, MAX_SHARDS))
        .conflicts(['finish', 'rollback']),
    )
    .option('--json', 'print the summary as JSON')
    .action(async (flags: ReindexFlags) =>
      withServices(
        async ({ reindexing }) => {
          if (reindexing === null) throw new Error(NOT_NEEDED)
          await runReindex(reindexing, flags, context)
        },
        // A rollback recovers from a lost index.
        { allowLostIndex: flags.rollback ?? false },
      ),
    )
}

async function runReindex(
  reindexing: Reindexing,
  { finish, rollback, shards, json }: ReindexFlags,
  context: CommandContext,
) {
  const { stdout, stderr } = context
  const signal = abortOnSignal(context)
  const step = finish ? 'verified' : 'compared'
  const progress = createReindexProgress(stderr, monotonicClock, step)
  const events = { onProgress: progress.update, onDelay: progress.printLine, signal }
  try {
    if (finish || rollback) {
      const result = await (finish ? reindexing.finish(events) : reindexing.rollBack(events))
      progress.end()
      const removed = result.removed.join(', ') || 'nothing'
      if (json) printJson(result, context)
      else stdout.write(`${result.live} is read; removed: ${removed}\n`)
      return
    }
    const summary = await reindexing.build({ ...events, ...(shards !== undefined && { shards }) })
    progress.end()
    if (json) printJson(summary, context)
    else stdout.write(`${summaryText(summary)}\n`)
  } catch (error) {
    if (!signal.aborted) throw error
    const option = (finish && ' --finish') || (rollback && ' --rollback')
    const nextStep = option
      ? `"index reindex${option}" continues it`
      : '"index reindex" resumes it, "--rollback" abandons it'
    throw new Error(`interrupted: ${nextStep}`, { cause: error })
  } finally {
    progress.end()
  }
}

function summaryText(summary: ReindexSummary): string {
  const { live, previous, shards, documents, copied, removed } = summary
  return [
    `${live} is read now: ${documents} documents, shards: ${shards}, copied: ${copied}, removed: ${removed}`,
    `${previous} still receives writes: "index reindex --finish" removes it, "--rollback" switches back to it`,
  ].join('\n')
}

/** Shows the progress of a step of a reindex. `clock`: monotonic milliseconds. */
export function createReindexProgress(screen: Screen, clock: Clock, step: 'compared' | 'verified') {
  const { show, printLine, clear } = createStatusLine(screen, clock)
  return {
    update(done: number, total: number) {
      const percent = Math.floor((100 * done) / Math.max(1, total))
      show(`${percent}% · ${done} of ${total} documents ${step}`)
    },
    /** Prints a permanent line. */
    printLine,
    /** Clears the status line. */
    end: clear,
  }
}
