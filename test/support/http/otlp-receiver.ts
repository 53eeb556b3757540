import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { vi } from 'vitest'

/** A span as OTLP has it in JSON. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number; message?: string }
}

interface TraceRequest {
  resourceSpans: {
    resource: Pick<ReceivedSpan, 'attributes'>
    scopeSpans: { spans: ReceivedSpan[] }[]
  }[]
}

/** How a collector treats what is sent to it. */
export type ReceiverMode = 'take' | 'refuse' | 'hang'

/** A collector of traces, on the loopback address. */
export interface OtlpReceiver {
  url: string
  manner: ReceiverMode
  /** What was sent, whole: path, headers and body. */
  requests: { path: string; contentType: string; body: Buffer }[]
  /** The spans of all that came as JSON. */
  spans(): ReceivedSpan[]
  /** The attributes of who sent it. */
  resource(): Record<string, unknown>
  /** Waits for something to be sent. */
  called(): Promise<void>
  close(): Promise<void>
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const contentType = request.headers['content-type'] ?? ''
    receiver.requests.push({ path: request.url ?? '', contentType, body })
    if (receiver.manner === 'hang') return
    response.writeHead(receiver.manner === 'take' ? 200 : 400, { 'content-type': contentType })
    response.end(contentType.includes('json') ? '{}' : undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  const resourceSpans = () =>
    receiver.requests
      .map(({ body }) => JSON.parse(body.toString()) as TraceRequest)
      .flatMap((sent) => sent.resourceSpans)

  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    manner: 'take',
    requests: [],
    spans: () =>
      resourceSpans().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resource: () => attributesOf(resourceSpans()[0]?.resource ?? { attributes: [] }),
    called: () =>
      vi.waitFor(
        () => {
          if (receiver.requests.length === 0) throw new Error('nothing was sent')
        },
        { timeout: 60_000, interval: 50 },
      ),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** The attributes of a span, by name; numbers as numbers. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
