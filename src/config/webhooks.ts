import { DAY_MS } from '../lib/durations.ts'
import { DEFAULT_RETRY_DELAYS_MS } from '../webhooks/deliveries/retry-schedule.ts'
import { minRetentionMs } from '../webhooks/dispatcher/housekeeping.ts'
import { parseNetworks } from '../webhooks/sending/egress/address-policy.ts'
import { createEnvironmentReader, type Environment } from './environment.ts'
import { integers, proxyUrl, webUrl } from './parsers.ts'

const MAX_ATTEMPTS = 32
const MAX_RETRY_DELAY_S = 604_800
const ALLOW_HELP =
  'expected addresses or networks separated by commas, such as 127.0.0.1,10.1.0.0/16'
const SCHEDULE_HELP = `expected 1 to ${MAX_ATTEMPTS} delays in seconds separated by commas, one before each attempt, each an integer from 0 to ${MAX_RETRY_DELAY_S}`
const PROXY_HELP =
  'expected one proxy such as http://user:password@proxy:3128, user and password percent-encoded, without path, query and fragment'
const OPERATOR_HELP =
  'expected an http or https URL without user, password and fragment, such as https://ops.example/webhooks'

/** Parses the settings of webhooks. Adds invalid settings to `problems`. */
export function parseWebhooks(env: Environment, problems: string[]) {
  const { read, readInteger, readNetworks } = createEnvironmentReader(env, problems)
  const parseDelays = integers(0, MAX_RETRY_DELAY_S, MAX_ATTEMPTS)
  const settings = {
    /** Networks whose receivers may also be reached over http and on any port. */
    allow: readNetworks('WEBHOOK_ALLOW', parseNetworks, ALLOW_HELP),
    timeoutMs: readInteger('WEBHOOK_TIMEOUT_MS', 100, 60_000, 15_000),
    /** The delay before each attempt of a delivery, the first included. */
    retryDelaysMs:
      read('WEBHOOK_RETRY_SCHEDULE', parseDelays, SCHEDULE_HELP, undefined)?.map(
        (seconds) => seconds * 1_000,
      ) ?? DEFAULT_RETRY_DELAYS_MS,
    /** `undefined`: receivers are reached directly. */
    proxyUrl: read('WEBHOOK_PROXY_URL', proxyUrl, PROXY_HELP, undefined),
    /** Receives notices of failing endpoints; `undefined`: only the log and the metrics do. */
    operatorUrl: read('OPERATOR_WEBHOOK_URL', webUrl, OPERATOR_HELP, undefined),
  }
  const configuredRetentionMs = readInteger('WEBHOOK_RETENTION_DAYS', 1, 365, 30) * DAY_MS
  return {
    ...settings,
    /** `WEBHOOK_RETENTION_DAYS`, which may be less than `retentionMs`. */
    configuredRetentionMs,
    /** How long deliveries are kept, and how far back a replay reaches. */
    retentionMs: Math.max(configuredRetentionMs, minRetentionMs(settings.retryDelaysMs)),
  }
}
