import { nodeHttp } from '../lib/node-http.ts'
import { createEnvironmentReader, type Environment } from './environment.ts'

/**
 * Settings from standard OpenTelemetry variables. The exporter reads its transport settings itself.
 */
export interface TracingSettings {
  protocol: Protocol
  sampler: SamplerName
  /** Share of the traces started here that is sampled: 0 to 1. */
  ratio: number
  batch: {
    scheduledDelayMillis: number
    exportTimeoutMillis: number
    maxQueueSize: number
    maxExportBatchSize: number
  }
  /** The exporter ignores a file that it cannot read. */
  files: Record<'certificate' | 'clientCertificate' | 'clientKey', ConfiguredFile>
}

export interface ConfiguredFile {
  setting: string
  /** `undefined`: not configured. */
  path: string | undefined
}

export type Protocol = (typeof protocols)[number]
export type SamplerName = (typeof samplers)[number]

const protocols = ['http/protobuf', 'http/json'] as const
const samplers = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

const PREFIX = 'OTEL_EXPORTER_OTLP_'
const TRACES_PREFIX = `${PREFIX}TRACES_`
const ENDPOINT_HELP = 'expected a URL such as http://localhost:4318, without spaces'
const HEADERS_HELP = 'expected name=value entries separated by commas, values percent-encoded'
/** `Number` also reads blanks, and other forms such as `0x1`. */
const DECIMAL = /^\d*\.?\d*(?:e-?\d+)?$/i
const RATIO_HELP =
  'expected a decimal from 0 to 1, such as 0.25, without spaces; leave it empty for 1'

/**
 * Parses the settings; `undefined` when tracing is disabled, or when neither endpoint nor exporter
 * is set. Adds invalid settings to `problems`.
 */
export function parseTracing(env: Environment, problems: string[]): TracingSettings | undefined {
  const { read, readInteger, readOneOf } = createEnvironmentReader(env, problems)
  /** Nine digits at most, because a timer accepts at most 2^31 ms. */
  const readPositive = (name: string, fallback: number) =>
    readInteger(name, 1, 999_999_999, fallback)

  const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
  if (![...endpoints, 'OTEL_TRACES_EXPORTER'].some((name) => env[name])) return undefined
  if (read('OTEL_SDK_DISABLED', flag, 'expected true or false', false)) return undefined
  if (readOneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none') return undefined

  for (const name of endpoints) read(name, endpointUrl, ENDPOINT_HELP, undefined)
  // The exporter ignores invalid ones.
  for (const prefix of [TRACES_PREFIX, PREFIX]) {
    read(`${prefix}HEADERS`, headers, HEADERS_HELP, undefined)
    readOneOf(`${prefix}COMPRESSION`, ['none', 'gzip'], 'none')
    readPositive(`${prefix}TIMEOUT`, 10_000)
  }
  /** The variable of the traces replaces the general one. */
  const specific = (name: string) =>
    env[`${TRACES_PREFIX}${name}`] ? `${TRACES_PREFIX}${name}` : `${PREFIX}${name}`
  const file = (name: string): ConfiguredFile => {
    const setting = specific(name)
    return { setting, path: env[setting] || undefined }
  }
  const ratio = read('OTEL_TRACES_SAMPLER_ARG', share, RATIO_HELP, 1)
  return {
    protocol: readOneOf(specific('PROTOCOL'), protocols, protocols[0]),
    sampler: readOneOf('OTEL_TRACES_SAMPLER', samplers, samplers[0]),
    ratio,
    batch: {
      scheduledDelayMillis: readPositive('OTEL_BSP_SCHEDULE_DELAY', 5_000),
      exportTimeoutMillis: readPositive('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
      maxQueueSize: readPositive('OTEL_BSP_MAX_QUEUE_SIZE', 2_048),
      maxExportBatchSize: readPositive('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    },
    files: {
      certificate: file('CERTIFICATE'),
      clientCertificate: file('CLIENT_CERTIFICATE'),
      clientKey: file('CLIENT_KEY'),
    },
  }
}

function endpointUrl(text: string): string | undefined {
  const { protocol } = URL.parse(text) ?? {}
  // The exporter appends a path, and uses its default URL where a space then makes it invalid.
  return (protocol === 'http:' || protocol === 'https:') && !/\s/.test(text) ? text : undefined
}

/** The exporter skips blank entries. */
function headers(text: string): string | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  return entries.every(isHeader) ? text : undefined
}

/** The exporter drops an entry that it cannot decode, and what follows a semicolon. */
function isHeader(entry: string): boolean {
  const [name = '', ...rest] = entry.split('=').map((part) => part.trim())
  try {
    const value = decodeURIComponent(rest.join('='))
    nodeHttp.validateHeaderName(decodeURIComponent(name))
    nodeHttp.validateHeaderValue(name, value)
    return value !== '' && !entry.includes(';')
  } catch {
    return false
  }
}

function flag(text: string): boolean | undefined {
  return { true: true, false: false }[text.toLowerCase()]
}

function share(text: string): number | undefined {
  const ratio = DECIMAL.test(text) ? Number(text) : Number.NaN
  return ratio >= 0 && ratio <= 1 ? ratio : undefined
}
