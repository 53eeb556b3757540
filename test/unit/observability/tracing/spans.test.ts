import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createTracing } from '../../../../src/observability/tracing/spans.ts'
import type { TracedAttempt, TracedRequest } from '../../../../src/observability/tracing/tracing.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const REQUEST: TracedRequest = {
  method: 'GET',
  route: '/v1/orders',
  requestId: 'req_1',
  traceparent: undefined,
}

let exporter: InMemorySpanExporter
let tracing: ReturnType<typeof createTracing>
beforeEach(() => {
  exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  tracing = createTracing(provider.getTracer('test'))
})

/** Runs `work` in a request that ends with the status. */
async function request(
  changes: Partial<TracedRequest>,
  work: () => Promise<unknown> = async () => {},
  status: number | undefined = 200,
): Promise<ReadableSpan[]> {
  const span = tracing.startRequest({ ...REQUEST, ...changes })
  await new Promise((resolve) => span.run(() => work().then(resolve, resolve)))
  span.end(status)
  return exporter.getFinishedSpans()
}

describe('the span of a request', () => {
  it('the span of a request has the name, kind and attributes of the semantic conventions, and the request id', async () => {
    const [span] = await request({})
    expect(span).toMatchObject({ name: 'GET /v1/orders', kind: SpanKind.SERVER })
    expect(span?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/orders',
      'http.response.status_code': 200,
      request_id: 'req_1',
    })
    expect(span?.status.code).toBe(SpanStatusCode.UNSET)
  })

  it('omits an unknown route and an unknown method', async () => {
    const [span] = await request({ route: undefined, method: 'PROPFIND' }, undefined, 404)
    expect(span?.name).toBe('HTTP')
    expect(span?.attributes).toEqual({
      'http.request.method': '_OTHER',
      'http.response.status_code': 404,
      request_id: 'req_1',
    })
  })

  it.each([
    [400, SpanStatusCode.UNSET],
    [429, SpanStatusCode.UNSET],
    [500, SpanStatusCode.ERROR],
    [503, SpanStatusCode.ERROR],
  ])(
    'the span of a request with the response %i has the span status %i: only server errors count',
    async (status, code) => {
      const [span] = await request({}, undefined, status)
      expect(span?.status.code).toBe(code)
      expect(span?.attributes['error.type']).toBe(status >= 500 ? String(status) : undefined)
    },
  )

  it('the span of a request has no status code when the client disconnected', async () => {
    const span = tracing.startRequest(REQUEST)
    span.end(undefined)
    expect(exporter.getFinishedSpans()[0]?.attributes).not.toHaveProperty(
      'http.response.status_code',
    )
  })

  it('belongs to the trace of the traceparent header', async () => {
    const [span] = await request({ traceparent: `00-${TRACE}-${PARENT}-01` })
    expect(span?.spanContext().traceId).toBe(TRACE)
    expect(span?.parentSpanContext).toMatchObject({ spanId: PARENT, isRemote: true })
  })

  it('the span of a request is not exported when the client did not sample the trace', async () => {
    expect(await request({ traceparent: `00-${TRACE}-${PARENT}-00` })).toEqual([])
  })

  it.each(['', 'nonsense', `00-${TRACE}-${PARENT}`, `00-${'0'.repeat(32)}-${PARENT}-01`])(
    'starts a new trace for the invalid traceparent %s',
    async (traceparent) => {
      const [span] = await request({ traceparent })
      expect(span?.parentSpanContext).toBeUndefined()
      expect(span?.spanContext().traceId).not.toBe(TRACE)
    },
  )
})

describe('the span of an attempt to deliver a webhook', () => {
  const ATTEMPT: TracedAttempt = {
    eventId: 'evt_1',
    type: 'order.paid',
    attempt: 1,
    startedAt: Date.parse('2026-03-01T12:00:00.000Z'),
    endedAt: Date.parse('2026-03-01T12:00:00.250Z'),
    status: 204,
  }

  function recordAttempt(changes: Partial<TracedAttempt> = {}): ReadableSpan | undefined {
    tracing.recordAttempt({ ...ATTEMPT, ...changes })
    return exporter.getFinishedSpans().at(-1)
  }

  it('the span of an attempt has the event, the status and the times of the request', () => {
    const span = recordAttempt()
    expect(span).toMatchObject({
      name: 'POST webhook',
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.UNSET },
      startTime: [ATTEMPT.startedAt / 1_000, 0],
      duration: [0, 250_000_000],
    })
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 204,
      'messaging.message.id': 'evt_1',
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'order.paid',
    })
  })

  it.each([
    [301, '301'],
    [410, '410'],
    [503, '503'],
    [null, '_OTHER'],
  ])('the span of an attempt with the status %s is an error of type %s', (status, type) => {
    const span = recordAttempt({ status })
    expect(span?.status.code).toBe(SpanStatusCode.ERROR)
    expect(span?.attributes['error.type']).toBe(type)
    expect(span?.attributes['http.response.status_code']).toBe(status ?? undefined)
  })

  it('the span of a later attempt counts those before it', () => {
    expect(recordAttempt({ attempt: 3 })?.attributes['http.request.resend_count']).toBe(2)
  })

  it('the span of an attempt during a request belongs to another trace', async () => {
    const [attempt, server] = await request({}, async () => {
      tracing.recordAttempt(ATTEMPT)
    })
    expect(attempt?.parentSpanContext).toBeUndefined()
    expect(attempt?.spanContext().traceId).not.toBe(server?.spanContext().traceId)
  })
})

describe('the span of a call', () => {
  it('the span of a call is a child of its request span, even after a wait', async () => {
    const [call, server] = await request({}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      await tracing.instrument('opensearch')('search', async () => 'page')
    })
    expect(call).toMatchObject({ name: 'opensearch search', kind: SpanKind.CLIENT })
    expect(call?.attributes).toEqual({
      'db.system.name': 'opensearch',
      'db.operation.name': 'search',
    })
    expect(call?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId)
  })

  it('the span of a call is not a child of a concurrent request', async () => {
    const call = (name: string) => () => tracing.instrument('redis')(name, async () => {})
    await Promise.all([
      request({ requestId: 'req_1' }, call('take')),
      request({ requestId: 'req_2' }, call('blocked')),
    ])
    const spans = exporter.getFinishedSpans()
    const idOf = (name: string) => {
      const parent = spans.find((span) => span.name === name)?.parentSpanContext?.spanId
      return spans.find((span) => span.spanContext().spanId === parent)?.attributes['request_id']
    }
    expect([idOf('redis take'), idOf('redis blocked')]).toEqual(['req_1', 'req_2'])
  })

  it('the span of a failed call has the error name, and never the message, which may quote the request', async () => {
    const failure = new Unavailable('rejected: {"term":{"account_id":"acc_secret"}}')
    const failing = () => tracing.instrument('opensearch')('search', () => Promise.reject(failure))
    const [span] = await request({}, () => expect(failing()).rejects.toBe(failure))
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(span?.attributes['error.type']).toBe('Unavailable')
    expect(span?.events).toEqual([])
  })

  it('the span of a call is not created outside a request, and the call still returns its result', async () => {
    expect(await tracing.instrument('redis')('take', async () => 'decision')).toBe('decision')
    expect(exporter.getFinishedSpans()).toEqual([])
  })
})
