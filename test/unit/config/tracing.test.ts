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
  files: {
    certificate: { setting: 'OTEL_EXPORTER_OTLP_CERTIFICATE' },
    clientCertificate: { setting: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE' },
    clientKey: { setting: 'OTEL_EXPORTER_OTLP_CLIENT_KEY' },
  },
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
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'False' }],
    [
      {
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi=, x-tenant = shop 1,',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      },
    ],
  ])('tracing is enabled by %o', (env) => {
    expect(read(env)).toEqual({ settings: DEFAULTS, problems: [] })
  })

  it.each([
    [{}],
    [{ OTEL_SERVICE_NAME: 'orders' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [{ OTEL_SDK_DISABLED: '1', OTEL_EXPORTER_OTLP_TIMEOUT: '-4' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'true' }],
  ])('tracing is disabled by %o', (env) => {
    expect(read(env)).toEqual({ settings: undefined, problems: [] })
  })
})

describe('the settings of tracing', () => {
  it.each(['a=1,,b=2', ',a=1', 'a=1, ', 'x%2Dt=1', 'a=%C3%A9'])(
    'the settings of tracing accept the headers %o, which the exporter sends',
    (headers) => {
      expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers }).problems).toEqual([])
    },
  )

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
    const { files } = DEFAULTS
    expect(settings).toEqual({ protocol: 'http/json', sampler, ratio: 0.25, batch, files })
  })

  it.each([
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_SDK_DISABLED', '1'],
    ...['foo', '=a', 'a=', 'a= ', 'a=b,c', 'a=100%', 'a=%ff', 'a=%0A', 'a b=c', 'a=b;c'].map(
      (value): [string, string] => ['OTEL_EXPORTER_OTLP_HEADERS', value],
    ),
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'foo'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zip'],
    ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'zip'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '-4'],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '10s'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ' '],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318 '],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ' http://collector:4318/v1/traces'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector:4317'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
    ['OTEL_TRACES_SAMPLER_ARG', '-1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ...[' ', '\t', ' 1', '0.5 ', '0x1', '0b1', '2e0', '+1', '-0', '.', 'e1'].map(
      (value): [string, string] => ['OTEL_TRACES_SAMPLER_ARG', value],
    ),
    ...['1.01', '1.5', '2', '0,5', '1/2', 'NaN', 'Infinity', '٠'].map((value): [string, string] => [
      'OTEL_TRACES_SAMPLER_ARG',
      value,
    ]),
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

  it.each([
    ['0', 0],
    ['1', 1],
    ['1.0', 1],
    ['0.00', 0],
    ['0.001', 0.001],
    ['.5', 0.5],
    ['1.', 1],
    ['1e-4', 0.0001],
  ])('the sampled share of traces is read from %s', (text, ratio) => {
    const { settings, problems } = read({ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: text })
    expect({ ratio: settings?.ratio, problems }).toEqual({ ratio, problems: [] })
  })

  it('the error of an invalid share says what to do', () => {
    const { problems } = read({ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: ' ' })
    expect(problems).toEqual([
      'OTEL_TRACES_SAMPLER_ARG: expected a decimal from 0 to 1, such as 0.25, without spaces; leave it empty for 1',
    ])
  })

  it('the settings of tracing are reported together with other invalid settings', () => {
    const env = { PORT: 'eighty', ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }
    expect(() => parseConfig(env)).toThrow(/PORT: .*\n.*OTEL_TRACES_SAMPLER: /)
  })
})
