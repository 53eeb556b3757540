import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { vi } from 'vitest'

/** A span in OTLP/JSON. */
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

/** How the collector responds to an export. */
export type ReceiverMode = 'accept' | 'reject' | 'hang'

/** A trace collector on the loopback address. */
export interface OtlpReceiver {
  url: string
  mode: ReceiverMode
  /** The received requests: path, headers and body. */
  requests: { path: string; contentType: string; body: Buffer }[]
  /** The spans of all requests in JSON. */
  spans(): ReceivedSpan[]
  /** The resource attributes of the exporter. */
  resource(): Record<string, unknown>
  /** Waits for an export. */
  called(): Promise<void>
  close(): Promise<void>
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const contentType = request.headers['content-type'] ?? ''
    receiver.requests.push({ path: request.url ?? '', contentType, body })
    if (receiver.mode === 'hang') return
    response.writeHead(receiver.mode === 'accept' ? 200 : 400, { 'content-type': contentType })
    response.end(contentType.includes('json') ? '{}' : undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  const resourceSpans = () =>
    receiver.requests
      .map(({ body }) => JSON.parse(body.toString()) as TraceRequest)
      .flatMap((sent) => sent.resourceSpans)

  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'accept',
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

/** The attributes of a span by name; numbers as numbers. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
