import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import type { StreamBacklog } from '../../indexing/consistency-check/stream-inspection.ts'
import { errorText } from '../../lib/errors/error-text.ts'
import { openStreamInspection } from '../../services.ts'
import { duration } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson } from '../output.ts'
import type { WithServices } from '../with-services.ts'
import { indexStatus, statusLines } from './status-report.ts'

const DEFAULT_WAIT_MS = 1_500

interface StatusFlags extends JsonFlag {
  wait: number
}

/** `index status`. */
export function addStatus(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  index
    .command('status')
    .description('report the contents, the writer and the lag of the index')
    .option(
      '--wait <span>',
      'how long to observe whether the writer is alive, such as 10s',
      duration,
    )
    .option('--json', 'print it as JSON')
    .action(async ({ wait = DEFAULT_WAIT_MS, json }: Partial<StatusFlags>) =>
      withServices(async ({ inspection }, config) => {
        const [overview, backlog] = await Promise.all([
          inspection.overview(wait),
          readBacklog(config, context),
        ])
        const status = indexStatus(overview, backlog)
        if (json) printJson(status, context)
        else for (const line of statusLines(status)) context.stdout.write(`${line}\n`)
      }),
    )
}

/** An unavailable stream is reported on stderr; the rest of the status still prints. */
async function readBacklog(
  config: Config,
  { stderr, setFailed }: CommandContext,
): Promise<StreamBacklog | null> {
  const stream = await openStreamInspection(config)
  try {
    return stream && (await stream.backlog())
  } catch (error) {
    stderr.write(`${errorText(error)}\n`)
    setFailed()
    return null
  } finally {
    stream?.close()
  }
}
