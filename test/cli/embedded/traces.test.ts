import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeCertificate } from '../../harness/services/certificate.ts'
import {
  type RunningService,
  runCommand,
  serveInProcess,
  startService,
} from '../../support/cli/command.ts'
import {
  attributesOf,
  type OtlpReceiver,
  startOtlpReceiver,
} from '../../support/http/otlp-receiver.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
/** Settings under which the collector can decode the spans and receives them soon. */
const TRACED = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '50' }
/** Lists the loaded packages of OpenTelemetry, except the one that prom-client depends on. */
const LOG_LOADED = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      const isListed = specifier.startsWith('@opentelemetry/') && !/prom-client/.test(context.parentURL)
      if (isListed) console.error('loaded ' + specifier)
      return next(specifier, context)
    },
  })
`)}`

let backend: Backend
let key: string
let collector: OtlpReceiver
let service: RunningService | undefined
beforeAll(async () => {
  backend = createBackend()
  expect((await runCommand(['index', 'init'], backend.env)).code).toBe(0)
  key = (await runCommand(['keys', 'create', '--account', 'acc_1'], backend.env)).stdout.trim()
})
afterAll(() => backend.remove())
beforeEach(async () => {
  collector = await startOtlpReceiver()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await service?.stop()
  await collector.close()
})

/**
 * A service that exports its traces to the collector. OpenTelemetry reads the environment of this
 * process.
 */
async function serve(env: Record<string, string> = {}): Promise<RunningService> {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...TRACED, ...env }
  for (const [name, value] of Object.entries(traced)) vi.stubEnv(name, value)
  service = await serveInProcess([], { ...backend.env, ...traced })
  return service
}

const call = ({ baseUrl }: RunningService, path: string, headers: Record<string, string> = {}) =>
  fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } })

describe('the traces of serve', () => {
  it('the traces of serve reach the collector before the service exits, with request id, route, status and the parent trace', async () => {
    const running = await serve({ OTEL_BSP_SCHEDULE_DELAY: '600000' })
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    const answer = await call(running, '/v1/orders?limit=1', headers)
    expect(await running.stop()).toBe(0)

    expect(collector.requests[0]?.path).toBe('/v1/traces')
    expect(collector.resource()['service.name']).toBe('public-orders-api')
    const span = collector.spans().find(({ name }) => name === 'GET /v1/orders')
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' })
    expect(attributesOf(span ?? { attributes: [] })).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/orders',
      'http.response.status_code': 200,
      request_id: answer.headers.get('request-id'),
    })
  })

  it('the traces of serve contain no key, cursor, query, id, address or text of the client', async () => {
    const running = await serve()
    const sent = {
      tracestate: 'vendor=secret-state',
      'user-agent': 'secret-agent',
      baggage: 'a=secret-bag',
    }
    await call(running, '/v1/orders?status=PAID&cursor=secret-cursor&name=secret-query', sent)
    await call(running, '/v1/orders/ord_secret', sent)
    await call(running, '/v1/secret-path', { authorization: 'Bearer secret-key' })
    expect(await running.stop()).toBe(0)
    expect(collector.spans().length).toBeGreaterThanOrEqual(3)
    const all = collector.requests.map(({ body }) => body.toString()).join()
    for (const secret of ['secret', key, 'PAID', 'acc_1', '127.0.0.1', backend.folder]) {
      expect(all).not.toContain(secret)
    }
  })

  it('the traces of serve carry the service name and attributes of the environment', async () => {
    const running = await serve({
      OTEL_SERVICE_NAME: 'orders-eu',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    })
    await call(running, '/v1/orders')
    await running.stop()
    expect(collector.resource()).toMatchObject({
      'service.name': 'orders-eu',
      'deployment.environment.name': 'staging',
    })
  })

  it('the traces of serve are sampled as the environment configures, and traces of a sampled parent are kept', async () => {
    const sampler = 'parentbased_traceidratio'
    const running = await serve({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0' })
    await call(running, '/v1/orders')
    await call(running, '/v1/orders', { traceparent: `00-${TRACE}-b7ad6b7169203331-01` })
    await running.stop()
    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
  })

  it('the traces of serve are encoded as protobuf unless another protocol is configured', async () => {
    const running = await serve({ OTEL_EXPORTER_OTLP_PROTOCOL: '' })
    const id = (await call(running, '/v1/orders')).headers.get('request-id')
    await running.stop()
    const [sent] = collector.requests
    expect(sent?.contentType).toBe('application/x-protobuf')
    expect(sent?.body.toString('latin1')).toContain('GET /v1/orders')
    expect(sent?.body.toString('latin1')).toContain(id)
  })
})

describe('the certificates of the trace exporter', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'certificate'],
    ['OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', 'certificate'],
    ['OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', 'certificate'],
    ['OTEL_EXPORTER_OTLP_CLIENT_KEY', 'private key'],
  ])('serve does not start with a %s that it cannot read', async (name, content) => {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, [name]: '/nope' }
    const { code, stderr } = await runCommand([], { ...backend.env, ...traced })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${name}: cannot read a PEM ${content} from /nope: ENOENT`),
    })
  })

  it('serve starts with a certificate and a private key that it can read', async () => {
    const { ca, cert, key } = await makeCertificate()
    const path = (name: string, pem: string) => {
      writeFileSync(join(backend.folder, name), pem)
      return join(backend.folder, name)
    }
    const running = await serve({
      OTEL_EXPORTER_OTLP_CERTIFICATE: path('ca.pem', ca),
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: path('cert.pem', cert),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: path('key.pem', key),
    })
    expect((await call(running, '/v1/orders')).status).toBe(200)
  })
})

describe('serve with a trace collector', () => {
  // Longer than the shutdown deadline of the service.
  const LONG_EXPORT_TIMEOUT = { OTEL_EXPORTER_OTLP_TIMEOUT: '60000' }

  it('a trace collector that never responds delays neither requests nor the shutdown', async () => {
    collector.mode = 'hang'
    const running = await serve(LONG_EXPORT_TIMEOUT)
    expect((await call(running, '/v1/orders')).status).toBe(200)
    await collector.called()
    expect((await call(running, '/v1/orders')).status).toBe(200)
    expect(await running.stop()).toBe(0)
  })

  it('an unreachable trace collector delays neither requests nor the shutdown', async () => {
    const running = await serve({
      ...LONG_EXPORT_TIMEOUT,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    })
    expect((await call(running, '/v1/orders')).status).toBe(200)
    expect(await running.stop()).toBe(0)
  })

  it('a trace collector that rejects spans causes one log line', async () => {
    collector.mode = 'reject'
    const running = await serve()
    await call(running, '/v1/orders')
    await collector.called()
    await call(running, '/v1/orders')
    expect(await running.stop()).toBe(0)
    expect(collector.requests.length).toBeGreaterThan(1)
    expect(running.output().stderr.match(/trace export is failing/g)).toHaveLength(1)
  })
})

describe('the OpenTelemetry SDK', () => {
  it('the OpenTelemetry SDK is loaded when traces are enabled', async () => {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, NODE_OPTIONS: LOG_LOADED }
    service = await startService([], { ...backend.env, ...traced })
    expect(service.output().stderr).toContain('loaded @opentelemetry/sdk-trace')
  })

  it('the OpenTelemetry SDK is not loaded when traces are disabled', async () => {
    service = await startService([], { ...backend.env, NODE_OPTIONS: LOG_LOADED })
    expect((await call(service, '/v1/orders')).status).toBe(200)
    expect(service.output().stderr).not.toContain('loaded @opentelemetry')
  })
})
