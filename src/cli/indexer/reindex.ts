import { type Command, Option } from 'commander'
import type { Reindexing, ReindexSummary } from '../../indexing/reindexing.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { printJson } from '../output.ts'
import { onFirstSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
import { createReindexProgress } from './reindex-progress.ts'

interface ReindexOptions {
  finish?: boolean
  rollback?: boolean
  json?: boolean
}

const NOT_NEEDED =
  'the embedded store needs no reindex: its tables migrate when they are opened. Set OPENSEARCH_URL'

/** `index reindex`. */
export function addReindex(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  index
    .command('reindex')
    .description('make the index anew beside the one that is read, and read it without a pause')
    .addOption(
      new Option('--finish', 'remove the index that was read before').conflicts('rollback'),
    )
    .option('--rollback', 'read the index that was read before, and remove the new one')
    .option('--json', 'print the summary as JSON')
    .action(async (options: ReindexOptions) =>
      withServices(
        async ({ reindexing }) => {
          if (reindexing === null) throw new Error(NOT_NEEDED)
          await runReindex(reindexing, options, context)
        },
        // A rollback is a way back from a loss.
        { allowLostIndex: options.rollback ?? false },
      ),
    )
}

async function runReindex(
  reindexing: Reindexing,
  { finish, rollback, json }: ReindexOptions,
  context: CommandContext,
) {
  const { stdout, stderr } = context
  const interruption = new AbortController()
  onFirstSignal(() => interruption.abort(), context)
  const { signal } = interruption
  const progress = createReindexProgress(stderr, monotonicClock)
  try {
    if (finish || rollback) {
      const events = { onDelay: progress.printLine, signal }
      const result = await (finish ? reindexing.finish(events) : reindexing.rollBack(events))
      const removed = result.removed.join(', ') || 'nothing'
      if (json) printJson(result, context)
      else stdout.write(`${result.live} is read; removed: ${removed}\n`)
      return
    }
    const { update: onProgress, printLine: onDelay } = progress
    const summary = await reindexing.build({ onProgress, onDelay, signal })
    progress.end()
    if (json) printJson(summary, context)
    else stdout.write(`${summaryText(summary)}\n`)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new Error('interrupted: "index reindex" goes on with it, "--rollback" gives it up', {
      cause: error,
    })
  } finally {
    progress.end()
  }
}

function summaryText({ live, previous, documents, copied, removed }: ReindexSummary): string {
  return [
    `${live} is read now: ${documents} documents, copied: ${copied}, removed: ${removed}`,
    `${previous} is still fed: "index reindex --finish" removes it, "--rollback" reads it again`,
  ].join('\n')
}
