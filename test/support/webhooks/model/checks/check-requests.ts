import { isDeepStrictEqual } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'
import type { Clock } from '../../../../../src/lib/clock.ts'
import type { Order } from '../../../../../src/orders/order.ts'
import type { OutgoingRequest, SendResult } from '../../../../../src/webhooks/sending/sender.ts'
import type { DeliveryLog, KnownEvent } from '../delivering/delivery-log.ts'
import {
  type EndpointHistory,
  endpointsAround,
  type ModelEndpoint,
  STALE_MS,
} from '../delivering/endpoint-history.ts'
import type { Flight } from '../delivering/receivers.ts'
import { contentOf, type SourceHistory } from '../writing/source-history.ts'
import type { Trace } from './trace.ts'
import type { Invariant, Violations } from './violation.ts'

export interface RequestChecks {
  onRequest(flight: Flight): void
  onResponse(flight: Flight, result: SendResult): void
}

export interface RequestChecksOptions {
  clock: Clock
  history: SourceHistory
  endpoints: EndpointHistory
  log: DeliveryLog
  trace: Trace
  violations: Violations
}

interface Body {
  id: string
  type: string
  account_id: string
  order_id: string
  sequence: number
  change: object
  data?: Order
}

/** How long a failing event delays later ones of its order. */
const WINDOW_MS = 300_000

/** Checks invariants 5 to 8, 10 and 11 at each request. */
export function createRequestChecks(options: RequestChecksOptions): RequestChecks {
  const { clock, history, endpoints, log, trace, violations } = options
  /** The id of the event that was sent as a sequence of an order to an endpoint. */
  const idOf = new Map<string, string>()
  /** When a sequence of an order was first sent to an endpoint, by endpoint and order. */
  const firstSentAt = new Map<string, Map<number, number>>()
  /** The first failure of an event at an endpoint. */
  const failedAt = new Map<string, number>()

  function check(model: ModelEndpoint, body: Body, request: OutgoingRequest): void {
    const event = log.events.get(body.id)
    const fail = (invariant: Invariant, message: string) =>
      violations.add(invariant, body.order_id, `${message}, in the request of ${describe(body)}`)
    if (event === undefined) {
      fail(5, 'no record has this event')
      return
    }
    checkIdentity(model, event, body, request, fail)
    checkView(model, event, body, fail)
    checkOrder(model, event, fail)
    checkSignature(model, request, fail)
  }

  /** Invariant 5. */
  function checkIdentity(
    model: ModelEndpoint,
    event: KnownEvent,
    body: Body,
    { headers }: OutgoingRequest,
    fail: Fail,
  ): void {
    const { id, type, orderId, sequence } = event
    if (log.isDelivered(model.id, id)) fail(5, 'a 2xx of it is stored already')
    const key = `${model.id} ${orderId} ${sequence}`
    if (headers['webhook-id'] !== (idOf.get(key) ?? id)) fail(5, 'the webhook-id is another one')
    idOf.set(key, id)
    if (body.type !== type || body.sequence !== sequence || body.order_id !== orderId) {
      fail(5, `the event is ${type} ${sequence} of ${orderId}`)
    }
    if (!isDeepStrictEqual(body.change, event.change)) fail(1, 'the change is not the recorded one')
  }

  /** Invariants 6, 7 and 10. */
  function checkView(model: ModelEndpoint, event: KnownEvent, body: Body, fail: Fail): void {
    const { accountId, orderId, sequence, type, version } = event
    if (accountId !== model.accountId) fail(7, `the event is of ${accountId}`)
    if (sequence < log.removedBefore(accountId, orderId)) fail(10, 'the order was removed since')
    if (type === 'order.removed') {
      if (body.data !== undefined) fail(10, 'it has data')
      return
    }
    const view = log.lastRead(accountId, orderId)
    if (!view) fail(7, 'the account has no view')
    checkPayload(model, body, fail)
    if (body.data === undefined) return
    const shown = history.newestShowing(orderId, accountId, contentOf(body.data))
    if (shown < version) fail(6, `the data is of v${shown}, the event of v${version}`)
    if (view && contentOf(view) !== contentOf(body.data)) fail(7, 'the data is not the view')
  }

  function checkPayload(model: ModelEndpoint, { data }: Body, fail: Fail): void {
    const payloads = endpointsAround(model, clock() - STALE_MS, clock()).map(
      (endpoint) => endpoint?.payload,
    )
    if (!payloads.includes(data === undefined ? 'thin' : 'full')) fail(7, 'the payload is wrong')
  }

  /** Invariant 8: a lower sequence follows a greater one only after it failed for long. */
  function checkOrder(
    { id }: ModelEndpoint,
    { orderId, sequence, ...event }: KnownEvent,
    fail: Fail,
  ) {
    const sent = firstSentAt.get(`${id} ${orderId}`) ?? new Map<number, number>()
    firstSentAt.set(`${id} ${orderId}`, sent)
    if (!sent.has(sequence)) sent.set(sequence, clock())
    const failed = failedAt.get(`${id} ${event.id}`) ?? Number.POSITIVE_INFINITY
    for (const [later, at] of sent) {
      if (later > sequence && at < failed + WINDOW_MS) {
        fail(8, `sequence ${later} was sent before`)
      }
    }
  }

  /** Invariant 11, with each secret that the receiver may have. */
  function checkSignature(model: ModelEndpoint, request: OutgoingRequest, fail: Fail): void {
    const now = clock()
    const isValid = ({ secret }: { secret: string }) => verifies(secret, request, now)
    const required = model.secrets.filter(
      ({ from, until }) => from + STALE_MS <= now && now < until,
    )
    const possible = model.secrets.filter(
      ({ from, until }) => from <= now && now < until + STALE_MS,
    )
    const ended = model.secrets.filter(({ until }) => until + STALE_MS <= now)
    if (!required.every(isValid) || !possible.some(isValid)) fail(11, 'the signature is wrong')
    if (ended.some(isValid)) fail(11, 'a secret signs that has ended')
  }

  return {
    onRequest({ request }) {
      const body = parse(request)
      const model = endpoints.byUrl(request.url)
      trace.note([body.order_id], `sent ${describe(body)} to ${model?.id.slice(0, 7)}`)
      if (model === undefined) {
        violations.add(7, body.order_id, `no endpoint ever had the URL ${request.url}`)
        return
      }
      const { at, endpoint } = model.versions.at(-1) ?? { at: 0, endpoint: null }
      if (endpoint === null && at + STALE_MS <= clock()) {
        violations.add(4, body.order_id, `a deleted endpoint is sent ${describe(body)}`)
      }
      check(model, body, request)
    },
    onResponse({ request, at }, { status, error }) {
      const body = parse(request)
      const model = endpoints.byUrl(request.url)
      trace.note([body.order_id], `response ${status ?? error} to ${describe(body)}`)
      if (model === undefined || error === null) return
      const key = `${model.id} ${body.id}`
      failedAt.set(key, failedAt.get(key) ?? at)
    },
  }
}

type Fail = (invariant: Invariant, message: string) => void

function parse({ body }: OutgoingRequest): Body {
  return JSON.parse(Buffer.from(body).toString())
}

function describe({ id, type, sequence }: Body): string {
  return `${sequence} ${type} ${id.slice(0, 8)}`
}

/** Whether the public package accepts the request at an instant, as it reads the clock itself. */
function verifies(secret: string, { headers, body }: OutgoingRequest, nowMs: number): boolean {
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs })
  try {
    new Webhook(secret).verify(Buffer.from(body).toString(), headers)
    return true
  } catch {
    return false
  } finally {
    vi.useRealTimers()
  }
}
