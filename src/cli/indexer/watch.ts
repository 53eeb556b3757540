import type { Command } from 'commander'
import { openLog } from '../../observability/log.ts'
import { openChangeStream } from '../../services.ts'
import type { CommandContext } from '../command-context.ts'
import { runUntilSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'

/** `index watch`. */
export function addWatch(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  index
    .command('watch')
    .description('write changes from the change stream continuously; needs Redis or Kafka')
    .action(async () => {
      const { watchWithOperations } = await import('./watch-process.ts')
      await withServices(async (services, config) => {
        const logger = openLog(config, context.stderr)
        const onWarning = (warning: string) => logger.warn(warning)
        const stream = await openChangeStream(config, 'index watch', onWarning)
        const work = (signal: AbortSignal) =>
          watchWithOperations(services, stream, config, logger, signal)
        await runUntilSignal(work, logger, context)
      })
    })
}
