import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { parseTracing } from '../../../src/config/tracing.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }
const BATCH = {
  scheduledDelayMillis: 5_000,
  exportTimeoutMillis: 30_000,
  maxQueueSize: 2_048,
  maxExportBatchSize: 512,
}
const DEFAULTS = {
  protocol: 'http/protobuf',
  sampler: 'parentbased_always_on',
  ratio: 1,
  batch: BATCH,
}

function read(env: Record<string, string>) {
  const problems: string[] = []
  const settings = parseTracing(env, problems)
  return { settings, problems }
}

describe('the activation of tracing', () => {
  it.each([
    [ENDPOINT],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/v1/traces' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }],
  ])('tracing is enabled by %o', (env) => {
    expect(read(env)).toEqual({ settings: DEFAULTS, problems: [] })
  })

  it.each([
    [{}],
    [{ OTEL_SERVICE_NAME: 'orders' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'true' }],
  ])('tracing is disabled by %o', (env) => {
    expect(read(env)).toEqual({ settings: undefined, problems: [] })
  })
})

describe('the settings of tracing', () => {
  it('the settings of tracing use the variables for traces before the general ones', () => {
    const { settings } = read({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    })
    const sampler = 'parentbased_traceidratio'
    const batch = { ...BATCH, scheduledDelayMillis: 50 }
    expect(settings).toEqual({ protocol: 'http/json', sampler, ratio: 0.25, batch })
  })

  it.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector:4317'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
    ['OTEL_TRACES_SAMPLER_ARG', '-1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ['OTEL_BSP_SCHEDULE_DELAY', '0'],
    ['OTEL_BSP_SCHEDULE_DELAY', '0x10'],
    ['OTEL_BSP_EXPORT_TIMEOUT', '1e3'],
    ['OTEL_BSP_EXPORT_TIMEOUT', '2147483648'],
    ['OTEL_BSP_EXPORT_TIMEOUT', 'soon'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '1.5'],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '-1'],
  ])('the settings of tracing report the invalid %s=%s by name', (name, value) => {
    const { problems } = read({ ...ENDPOINT, [name]: value })
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))])
  })

  it('the settings of tracing are reported together with other invalid settings', () => {
    const env = { PORT: 'eighty', ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }
    expect(() => parseConfig(env)).toThrow(/PORT: .*\n.*OTEL_TRACES_SAMPLER: /)
  })
})
