import { type Command, Option } from 'commander'
import type { Config } from '../../config/config.ts'
import { type EnqueueSummary, enqueue } from '../../indexing/sources/enqueue.ts'
import { type LoadSummary, load } from '../../indexing/sources/load.ts'
import { type ValidationSummary, validateLines } from '../../indexing/sources/validate-lines.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { openChangeStream, type Services } from '../../services.ts'
import { instant, integer } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson } from '../output.ts'
import { abortOnSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
import { type LoadInput, openInput } from './load-input.ts'
import { createLoadWriter, type WriterFlags } from './load-writer.ts'
import { createProgress, type Progress } from './progress.ts'
import { rejectionText, secondsSince, summaryText } from './summary.ts'

interface LoadFlags extends JsonFlag, WriterFlags {
  dryRun?: true
  stream?: true
  fromLine: number
}

const NO_WEBHOOKS =
  'warning: --announce-since has no effect without --live or --repair: such a load sends no webhooks\n'

/** `index load`. */
export function addLoad(index: Command, withServices: WithServices, context: CommandContext): void {
  index
    .command('load')
    .description('write source orders, one JSON object per line')
    .argument('<file>', 'a file, or - for standard input')
    .addOption(
      new Option(
        '--live',
        'set updated_at of new orders to now: clients that sync receive them',
      ).conflicts(['history', 'repair']),
    )
    .addOption(
      new Option(
        '--history',
        'keep changed_at of new orders: clients that already page miss them; the default until a key is used or an order is stamped live',
      ).conflicts('repair'),
    )
    .addOption(
      new Option(
        '--repair',
        'as --live, and rewrite missing, damaged or different documents of indexed versions',
      ).conflicts('reproject'),
    )
    .option('--reproject', 'upgrade documents of an older schema version')
    .addOption(
      new Option(
        '--announce-since <instant>',
        'after a loss: send no webhooks for changes made before it, such as 2026-03-01T00:00:00Z',
      )
        .argParser(instant)
        .conflicts(['history', 'stream']),
    )
    .option(
      '--from-line <n>',
      'skip the lines before this one',
      integer(1, Number.MAX_SAFE_INTEGER, 'a line number'),
      1,
    )
    .option('--dry-run', 'validate every line and write nothing; needs no settings')
    .addOption(
      new Option('--stream', 'enqueue the lines for "index watch"; needs Redis or Kafka').conflicts(
        ['reproject', 'dryRun', 'history', 'repair'],
      ),
    )
    .option('--json', 'print the summary as JSON')
    .action(async (file: string, flags: LoadFlags) => {
      const signal = abortOnSignal(context)
      const sendsWebhooks = flags.live ?? flags.repair ?? false
      if (flags.announceSince !== undefined && !sendsWebhooks) context.stderr.write(NO_WEBHOOKS)
      const summary = flags.dryRun
        ? await runWithProgress(file, context, signal, checkAndReport(flags))
        : await withServices<Timed<LoadSummary | EnqueueSummary>>((services, config) =>
            flags.stream
              ? runWithProgress(file, context, signal, enqueueAndReport(flags, config))
              : runWithProgress(file, context, signal, loadAndReport(flags, services)),
          )
      if (flags.json) printJson(summary, context)
      else context.stdout.write(`${summaryText(summary)}\n`)
      if (summary.refused > 0) context.setFailed()
    })
}

interface LoadContext {
  input: LoadInput
  /** Written to stderr, with the rejected lines. */
  progress: Progress
  onRejected(lineNumber: number, error: { path: string; reason: string }): void
  signal: AbortSignal
}

type Work<Summary> = (reporting: LoadContext) => Promise<Summary>
type Timed<Summary> = Summary & { seconds: number }

/** Runs `work` on the input and adds its duration in seconds to the summary. */
async function runWithProgress<Summary extends object>(
  file: string,
  { stdin, stderr }: CommandContext,
  signal: AbortSignal,
  work: Work<Summary>,
): Promise<Timed<Summary>> {
  const startedAt = monotonicClock()
  const input = await openInput(file, stdin, signal)
  const progress = createProgress(stderr, input, monotonicClock)
  try {
    const onRejected: LoadContext['onRejected'] = (line, error) =>
      progress.printLine(rejectionText(`line ${line}`, error))
    const counts = await work({ input, progress, onRejected, signal })
    return { ...counts, seconds: secondsSince(startedAt) }
  } finally {
    progress.end()
    input.close()
  }
}

function checkAndReport({ fromLine }: LoadFlags): Work<ValidationSummary> {
  return ({ input, progress, onRejected }) =>
    validateLines(input.chunks, { fromLine, onRejected, onProgress: progress.update })
}

/** Loads the lines; on failure it prints the line to resume from. */
function loadAndReport(
  { fromLine, ...flags }: LoadFlags,
  { openIndex, keys }: Services,
): Work<LoadSummary> {
  return async ({ input, progress, onRejected, signal }) => {
    const onDelay = progress.printLine
    const index = await openIndex({ onDelay, signal })
    try {
      const options = { index, keys, onDelay, signal }
      const { finish, ...writerOptions } = await createLoadWriter(flags, options)
      return await resumable(progress, async (onProgress) => {
        const reports = { fromLine, onRejected, onProgress }
        const loading = load(input.chunks, { ...writerOptions, ...reports })
        const summary = await loading.catch(async (error: unknown) => {
          await finish().catch((late: Error) => progress.printLine(late.message))
          throw error
        })
        await finish()
        return summary
      })
    } finally {
      progress.end()
      await index.close()
    }
  }
}

/** Enqueues the lines for `index watch`; on failure it prints the line to resume from. */
function enqueueAndReport({ fromLine }: LoadFlags, config: Config): Work<EnqueueSummary> {
  return async ({ input, progress, onRejected, signal }) => {
    const stream = await openChangeStream(config, 'index load --stream')
    const onDelay = progress.printLine
    try {
      return await resumable(progress, (onProgress) =>
        enqueue(input.chunks, { stream, fromLine, onRejected, onProgress, onDelay, signal }),
      )
    } finally {
      stream.close()
    }
  }
}

type OnProgress = (counts: { read: number; refused: number }, lineNumber: number) => void

async function resumable<Summary>(
  progress: Progress,
  work: (onProgress: OnProgress) => Promise<Summary>,
): Promise<Summary> {
  let lastLine = 0
  try {
    return await work((counts, lineNumber) => {
      lastLine = lineNumber
      progress.update(counts)
    })
  } catch (error) {
    if (lastLine > 0) {
      const hint = `resume with --from-line ${lastLine + 1}`
      progress.printLine(`stopped after line ${lastLine}: ${hint}`)
    }
    throw error
  }
}
