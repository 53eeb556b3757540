import { onTestFinished } from 'vitest'
import { monotonicClock, wallClock } from '../../../../src/lib/clock.ts'
import { parseNetworks } from '../../../../src/webhooks/sending/egress/address-policy.ts'
import {
  createHttpSender,
  type HttpSenderOptions,
} from '../../../../src/webhooks/sending/http-sender.ts'
import type { SendResult } from '../../../../src/webhooks/sending/sender.ts'
import { type Receiver, type ReceiverOptions, type Responder, startReceiver } from './receiver.ts'

export const LOOPBACK = parseNetworks('127.0.0.0/8,::1').networks

/** Longer than any test, so that only a broken sender reaches it. */
const AMPLE_MS = 60_000

/** A sender that may reach the loopback address, and is closed after the test. */
export function openSender(options: Partial<HttpSenderOptions> = {}) {
  const sender = createHttpSender({
    allow: LOOPBACK,
    timeoutMs: AMPLE_MS,
    clock: wallClock,
    monotonic: monotonicClock,
    ...options,
  })
  onTestFinished(() => sender.close(0))
  return {
    ...sender,
    post: (url: string, body = '{}'): Promise<SendResult> =>
      sender.send({
        url,
        headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
        body: Buffer.from(body),
      }),
  }
}

/** A receiver that is closed after the test. */
export async function openReceiver(
  answer: Responder,
  options?: ReceiverOptions,
): Promise<Receiver> {
  const receiver = await startReceiver(answer, options)
  onTestFinished(() => receiver.close())
  return receiver
}
