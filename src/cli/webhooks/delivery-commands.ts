import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { CLI_ACTOR } from '../../management/audit/audit-entry.ts'
import type { AuditedWebhooks } from '../../management/audited-webhooks.ts'
import { type Delivery, FAILED_STATES } from '../../webhooks/deliveries/delivery.ts'
import {
  DEFAULT_LISTED_DELIVERIES,
  MAX_LISTED_DELIVERIES,
} from '../../webhooks/management/delivery-operations.ts'
import { deliveryJson } from '../../webhooks/management/webhook-json.ts'
import { instant, integer } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson, printResult } from '../output.ts'
import { abortOnSignal } from '../signals.ts'
import type { WithWebhooks } from './with-webhooks.ts'

interface FailedFlag {
  failed?: true
}

const TEST_WAIT_MS = 30_000

/** `webhooks test | deliveries | resend | replay`. */
export function addDeliveryCommands(
  webhooks: Command,
  withWebhooks: WithWebhooks,
  context: CommandContext,
): void {
  webhooks
    .command('test')
    .description('send an event of type webhook.test, and wait up to 30 seconds for the attempt')
    .argument('<id>', 'the endpoint')
    .option('--json', 'print the delivery as JSON')
    .action(async (id: string, { json }: JsonFlag) =>
      withWebhooks(async (auditedWebhooks, config) => {
        const sent = await auditedWebhooks.sendTest(CLI_ACTOR, { id })
        const delivery = await awaitAttempt(auditedWebhooks, sent, config, context)
        printDelivery(delivery, json, context)
        if (delivery.attempts.length > 0 && delivery.state !== 'delivered') context.setFailed()
      }),
    )

  webhooks
    .command('deliveries')
    .description('list the deliveries of an endpoint, newest first')
    .argument('<id>', 'the endpoint')
    .option('--failed', 'only those that failed or expired')
    .option(
      '--limit <n>',
      `at most this many, 1 to ${MAX_LISTED_DELIVERIES}`,
      integer(1, MAX_LISTED_DELIVERIES),
      DEFAULT_LISTED_DELIVERIES,
    )
    .option('--json', 'print them as JSON')
    .action(
      async (id: string, { failed, limit, json }: JsonFlag & FailedFlag & { limit: number }) =>
        withWebhooks(async ({ listDeliveries }) => {
          const deliveries = await listDeliveries(
            { id },
            { limit, ...(failed && { states: FAILED_STATES }) },
          )
          printResult(json, deliveries.map(deliveryJson), deliveries.map(deliveryRow), context)
        }),
    )

  webhooks
    .command('resend')
    .description(
      'make a delivery due again at once, under the same webhook-id; an open circuit breaker delays it until "webhooks enable"',
    )
    .argument('<delivery_id>', 'its id, as "webhooks deliveries" prints it')
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json }: JsonFlag) =>
      withWebhooks(async ({ resend }) =>
        printDelivery(await resend(CLI_ACTOR, { id }), json, context),
      ),
    )

  webhooks
    .command('replay')
    .description(
      'send again the events of an endpoint since an instant, and undelivered earlier ones that began to fail or were held since then',
    )
    .argument('<id>', 'the endpoint')
    .requiredOption(
      '--since <instant>',
      'an instant with zone, such as 2026-03-01T00:00:00Z',
      instant,
    )
    .option('--failed', 'only those that failed or expired')
    .option('--json', 'print the number as JSON')
    .action(
      async (id: string, { since, failed, json }: JsonFlag & FailedFlag & { since: number }) =>
        withWebhooks(async ({ replay }) => {
          const replayed = await replay(
            CLI_ACTOR,
            { id },
            { sinceMs: since, failedOnly: failed ?? false },
          )
          if (json) printJson({ replayed }, context)
          else context.stdout.write(`replayed: ${replayed}\n`)
        }),
    )
}

/** Waits for the attempt, unless no dispatcher would make it. */
async function awaitAttempt(
  { dispatcher, awaitAttempt }: AuditedWebhooks,
  sent: Delivery,
  { writerLeaseMs }: Config,
  context: CommandContext,
): Promise<Delivery> {
  const signal = abortOnSignal(context)
  const status = await dispatcher(writerLeaseMs)
  if (!status?.alive) {
    context.stderr.write(
      'no dispatcher runs, so the delivery waits: start "webhooks deliver", or "serve" on the embedded store\n',
    )
    return sent
  }
  const wait = { timeoutMs: TEST_WAIT_MS, monotonic: monotonicClock, signal }
  const delivery = await awaitAttempt(sent, wait)
  if (delivery.state === 'pending' && delivery.attempts.length === 0) {
    context.stderr.write(
      `no attempt within ${TEST_WAIT_MS / 1_000} s: "webhooks deliveries ${sent.endpointId}" shows it later\n`,
    )
  }
  return delivery
}

function printDelivery(delivery: Delivery, json: true | undefined, context: CommandContext): void {
  printResult(json, deliveryJson(delivery), [deliveryRow(delivery)], context)
}

function deliveryRow(delivery: Delivery) {
  const { attempts, next_at, event_id: _, ...row } = deliveryJson(delivery)
  const last = attempts.at(-1)
  return {
    ...row,
    attempts: attempts.length,
    last_attempt: last?.at ?? null,
    last_result: last?.error ?? last?.status ?? null,
    next_at,
  }
}
