import type { Command } from 'commander'
import { statusJson } from '../../webhooks/management/webhook-json.ts'
import type { DispatcherStatus } from '../../webhooks/webhook-stores.ts'
import type { CommandContext } from '../command-context.ts'
import { alignRows, type JsonFlag, printJson } from '../output.ts'
import type { WithWebhooks } from './with-webhooks.ts'

/** `webhooks status`. */
export function addWebhookStatus(
  webhooks: Command,
  withWebhooks: WithWebhooks,
  context: CommandContext,
): void {
  webhooks
    .command('status')
    .description('report the dispatcher, its backlog and the number of endpoints by state')
    .option('--json', 'print it as JSON')
    .action(async ({ json }: JsonFlag) =>
      withWebhooks(async (auditedWebhooks, { writerLeaseMs }) => {
        const status = statusJson(await auditedWebhooks.status(writerLeaseMs))
        if (json) printJson(status, context)
        else for (const line of statusLines(status)) context.stdout.write(`${line}\n`)
      }),
    )
}

function statusLines({
  dispatcher,
  due,
  oldest_due_seconds: oldest,
  endpoints,
}: ReturnType<typeof statusJson>): string[] {
  return alignRows([
    ['dispatcher', dispatcher === null ? 'none' : dispatcherText(dispatcher)],
    ['due', `${due}`],
    ['oldest due', oldest === null ? 'none' : `${oldest} s`],
    ['endpoints enabled', `${endpoints.enabled}`],
    ['endpoints failing', `${endpoints.failing}`],
    ['endpoints disabled', `${endpoints.disabled}`],
  ])
}

function dispatcherText({ holder, alive }: DispatcherStatus): string {
  return alive ? `${holder}, alive` : `none now; the last was ${holder}`
}
