import type { Environment } from './environment.ts'

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

/** `Number` also reads blanks, and other forms such as `0x1`. */
const DECIMAL = /^\d*\.?\d*(?:e-?\d+)?$/i
const RATIO_HELP =
  'expected a decimal from 0 to 1, such as 0.25, without spaces; leave it empty for 1'

/**
 * Parses the settings; `undefined` when tracing is disabled, or when neither endpoint nor exporter
 * is set. Adds invalid settings to `problems`.
 */
export function parseTracing(env: Environment, problems: string[]): TracingSettings | undefined {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined

  /** The value of the first variable that is set. */
  function firstSet<T extends string>(names: string[], allowed: readonly [T, ...T[]]): T {
    const name = names.find((candidate) => env[candidate])
    if (name === undefined) return allowed[0]
    const value = allowed.find((known) => known === env[name])
    if (value === undefined) problems.push(`${name}: expected one of ${allowed.join(', ')}`)
    return value ?? allowed[0]
  }

  /** Up to nine digits, because a timer accepts at most 2^31 ms. */
  function positiveInteger(name: string, fallback: number): number {
    const text = env[name] || `${fallback}`
    if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
      problems.push(`${name}: expected an integer from 1 to 999999999`)
    }
    return Number(text)
  }

  const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
  const named = endpoints.filter((name) => env[name])
  if (named.length === 0 && !env['OTEL_TRACES_EXPORTER']) return undefined
  if (firstSet(['OTEL_TRACES_EXPORTER'], ['otlp', 'none']) === 'none') return undefined

  for (const name of named) {
    const url = env[name] ?? ''
    const { protocol } = URL.parse(url) ?? {}
    // The exporter appends a path, and uses its default URL where a space then makes it invalid.
    if ((protocol === 'http:' || protocol === 'https:') && !/\s/.test(url)) continue
    problems.push(`${name}: expected a URL such as http://localhost:4318, without spaces`)
  }
  const ratioText = env['OTEL_TRACES_SAMPLER_ARG'] || '1'
  const ratio = DECIMAL.test(ratioText) ? Number(ratioText) : Number.NaN
  if (!(ratio >= 0 && ratio <= 1)) problems.push(`OTEL_TRACES_SAMPLER_ARG: ${RATIO_HELP}`)
  return {
    protocol: firstSet(
      ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
      protocols,
    ),
    sampler: firstSet(['OTEL_TRACES_SAMPLER'], samplers),
    ratio,
    batch: {
      scheduledDelayMillis: positiveInteger('OTEL_BSP_SCHEDULE_DELAY', 5_000),
      exportTimeoutMillis: positiveInteger('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
      maxQueueSize: positiveInteger('OTEL_BSP_MAX_QUEUE_SIZE', 2_048),
      maxExportBatchSize: positiveInteger('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    },
  }
}
