import { hash } from 'node:crypto'
import { publicAccount } from '../../../auth/account-ids.ts'
import { interruptiblePause } from '../../../lib/async/interruptible-pause.ts'
import type { Clock } from '../../../lib/clock.ts'
import { formatInstant, formatInstantOrNull } from '../../../lib/instant.ts'
import type { NamedSecrets } from '../../../lib/secrets/named-secret.ts'
import { isSuccess } from '../../deliveries/record-attempt.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { Sender } from '../../sending/sender.ts'
import type { Signer } from '../../sending/signature.ts'
import type { Notice } from '../dispatcher-events.ts'

export interface OperatorNoticeOptions {
  /** `OPERATOR_WEBHOOK_URL`, which may be on a private network. */
  url: string
  /** A sender that may connect to private networks. */
  sender: Pick<Sender, 'send'>
  sign: Signer
  /** Which secrets sign, by {@link operatorSigners}. */
  signers: OperatorSigners
  /** Epoch milliseconds. */
  clock: Clock
  version: string
}

/** Sends a notice to the operator. Returns why it was not accepted; `null` when it was. */
export type SendNotice = (notice: Notice, signal: AbortSignal) => Promise<string | null>

/** The id in the place of an endpoint's, from which the secret is derived. */
export const OPERATOR = 'operator'

/** The secrets that sign notices. */
export type OperatorSigners = Pick<Endpoint, 'secret' | 'previousSecret'>

/**
 * The first entry of `WEBHOOK_SECRETS` signs, and so does the second. A receiver with either secret
 * accepts notices while the entries are rotated.
 */
export function operatorSigners(secrets: NamedSecrets): OperatorSigners {
  const [{ kid }, previous] = secrets
  return {
    secret: { kid, generation: 1 },
    previousSecret: previous
      ? { kid: previous.kid, generation: 1, endsAt: Number.POSITIVE_INFINITY }
      : null,
  }
}

const RETRY_DELAYS_MS = [1_000, 10_000]
const ID_DIGITS = 32

/** Creates {@link SendNotice}, with three attempts. */
export function createSendNotice(options: OperatorNoticeOptions): SendNotice {
  const { url, sender, sign, signers, clock, version } = options
  const endpoint = { id: OPERATOR, ...signers }

  async function attempt(id: string, body: Buffer): Promise<string | null> {
    const headers = {
      'content-type': 'application/json',
      'user-agent': `public-orders-api-webhooks/${version}`,
      ...sign(endpoint, { id, sentAtMs: clock(), body }),
    }
    const result = await sender.send({ url, headers, body })
    return isSuccess(result) ? null : (result.error ?? `the response was ${result.status}`)
  }

  return async (notice, signal) => {
    const id = noticeId(notice)
    const body = renderNotice(id, notice, clock())
    let reason = await attempt(id, body)
    for (const delayMs of RETRY_DELAYS_MS) {
      if (reason === null) break
      await interruptiblePause(delayMs, signal, 'sending a notice').catch(() => {})
      if (signal.aborted) break
      reason = await attempt(id, body)
    }
    return reason
  }
}

/** Derived, so that the receiver can recognise a notice that is repeated after a crash. */
function noticeId({ endpointId, kind, failingSince }: Notice): string {
  const digest = hash('sha256', [endpointId, kind, failingSince].join('\n'), 'hex')
  return `ntc_${digest.slice(0, ID_DIGITS)}`
}

function renderNotice(id: string, notice: Notice, nowMs: number): Buffer {
  const { kind, endpointId, accountId, failingSince, disabledReason } = notice
  return Buffer.from(
    JSON.stringify({
      id,
      type: kind === 'disabled' ? 'endpoint.disabled' : 'endpoint.failing',
      timestamp: formatInstant(nowMs),
      endpoint_id: endpointId,
      ...publicAccount(accountId),
      failing_since: formatInstantOrNull(failingSince),
      disabled_reason: disabledReason,
    }),
  )
}
