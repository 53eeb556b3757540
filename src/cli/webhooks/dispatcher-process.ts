import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { monotonicClock, wallClock } from '../../lib/clock.ts'
import type { NamedSecrets } from '../../lib/secrets/named-secret.ts'
import type { WebhookMetrics } from '../../observability/metrics/webhooks.ts'
import type { Tracing } from '../../observability/tracing/tracing.ts'
import type { Services } from '../../services.ts'
import { createRetrySchedule } from '../../webhooks/deliveries/retry-schedule.ts'
import { createDispatcher } from '../../webhooks/dispatcher/dispatcher.ts'
import type { DispatcherEvents } from '../../webhooks/dispatcher/dispatcher-events.ts'
import { defaultSettings } from '../../webhooks/dispatcher/dispatcher-settings.ts'
import {
  createSendNotice,
  operatorSigners,
  type SendNotice,
} from '../../webhooks/dispatcher/health/operator-notices.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import { everyNetwork } from '../../webhooks/sending/egress/address-policy.ts'
import { createHttpSender } from '../../webhooks/sending/http-sender.ts'
import type { Sender } from '../../webhooks/sending/sender.ts'
import { createSigner, type Signer } from '../../webhooks/sending/signature.ts'
import { createDispatcherLog } from './dispatcher-log.ts'

export interface DispatcherDependencies {
  services: Pick<Services, 'webhooks' | 'orders' | 'webhookSecrets'>
  logger: Logger
  metrics: WebhookMetrics
  tracing: Pick<Tracing, 'recordAttempt'> | null
  /** Called with whether the dispatcher waits for a store. */
  onWaiting?(isWaiting: boolean): void
}

/** Each search costs more than a read of the embedded store, and each page two refreshes. */
const REMOTE_SETTINGS = { pollMs: 150, fanOutPage: 1_000 }
/**
 * An attempt that takes longer is repeated later. With the time to store the last results and to
 * send notices, it is less than the timeout of a shutdown.
 */
const STOP_MS = 8_000
const NOTICES_MS = 1_000

/**
 * Delivers webhooks until `signal` aborts, then finishes the requests in flight.
 * @throws Error when `WEBHOOK_SECRETS` is missing, or for a failure that a retry cannot correct
 */
export async function runDispatcher(
  config: Config,
  dependencies: DispatcherDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { services, logger } = dependencies
  const { allow, timeoutMs, proxyUrl, retryDelaysMs, retentionMs, operatorUrl } = config.webhooks
  const secrets = requireWebhookSecrets(services.webhookSecrets)
  const sign = createSigner(secrets)
  services.webhooks.onDamaged?.((reason) => logger.error({ reason }, 'webhooks are incomplete'))
  const clocks = { clock: wallClock, monotonic: monotonicClock }
  const sender = createHttpSender({ allow, timeoutMs, proxyUrl, ...clocks })
  const notices = openNotices(operatorUrl, { timeoutMs, sign, secrets })
  const dispatcher = createDispatcher({
    stores: services.webhooks,
    orders: services.orders,
    sender,
    sign,
    sendNotice: notices?.send ?? null,
    schedule: createRetrySchedule(retryDelaysMs),
    ...clocks,
    events: observeDispatcher(createDispatcherLog(logger), dependencies),
    settings: {
      ...defaultSettings,
      ...(config.opensearchUrls !== undefined && REMOTE_SETTINGS),
      stopMs: STOP_MS,
      retentionMs,
    },
    version: packageVersion(),
  })
  try {
    await dispatcher.run(signal)
  } finally {
    await sender.close(0)
    await notices?.close(NOTICES_MS)
  }
}

interface NoticeOptions {
  timeoutMs: number
  sign: Signer
  secrets: NamedSecrets
}

/** The operator's own URL may be on a private network, so its sender has no address policy. */
function openNotices(
  url: string | undefined,
  { timeoutMs, sign, secrets }: NoticeOptions,
): { send: SendNotice; close: Sender['close'] } | null {
  if (url === undefined) return null
  const sender = createHttpSender({
    allow: everyNetwork,
    timeoutMs,
    clock: wallClock,
    monotonic: monotonicClock,
  })
  const send = createSendNotice({
    url,
    sender,
    sign,
    signers: operatorSigners(secrets),
    clock: wallClock,
    version: packageVersion(),
  })
  return { send, close: sender.close }
}

function observeDispatcher(
  log: DispatcherEvents,
  { metrics, tracing, onWaiting }: Omit<DispatcherDependencies, 'services' | 'logger'>,
): DispatcherEvents {
  return {
    ...log,
    onOutage(reason) {
      onWaiting?.(true)
      log.onOutage(reason)
    },
    onRecovered() {
      onWaiting?.(false)
      log.onRecovered()
    },
    onDispatcher(isDispatcher) {
      onWaiting?.(false) // An outage during which the lease was lost has no other end.
      metrics.isDispatcher.set(Number(isDispatcher))
      log.onDispatcher(isDispatcher)
    },
    onAttempt(report) {
      const { outcome, recordedAt, endedAt } = report
      metrics.attempts.inc({ outcome })
      if (outcome === 'delivered')
        metrics.deliverySeconds.observe(Math.max(0, endedAt - recordedAt) / 1_000)
      tracing?.recordAttempt(report)
      log.onAttempt(report)
    },
    onNotice(notice) {
      const { kind, disabledReason } = notice
      if (kind === 'disabled' && disabledReason !== null)
        metrics.disabledEndpoints.inc({ reason: disabledReason })
      log.onNotice(notice)
    },
  }
}

/** From `src` and from `dist`. */
function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
