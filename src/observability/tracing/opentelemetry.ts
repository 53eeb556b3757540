import { ExportResultCode } from '@opentelemetry/core'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Protocol, SamplerName, TracingSettings } from '../../config/tracing.ts'
import { errorText } from '../../lib/errors/error-text.ts'
import { createTracing } from './spans.ts'
import type { Tracing, TracingEvents } from './tracing.ts'

const SERVICE_NAME = 'public-orders-api'
/** A slow collector must not delay the shutdown. */
const CLOSE_TIMEOUT_MS = 2_000

/** Opens tracing with the SDK. Spans are exported in the background, and dropped on failure. */
export async function openOpenTelemetry(
  { protocol, sampler, ratio, batch }: TracingSettings,
  events: TracingEvents,
): Promise<Tracing> {
  const exporter = reportOutages(await openExporter(protocol), events)
  const provider = new TracerProvider({
    resource: serviceResource(),
    sampler: createSampler(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
  })
  return {
    ...createTracing(provider.getTracer(SERVICE_NAME)),
    async close() {
      const { promise: timedOut, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)
      await Promise.race([provider.shutdown().catch(() => {}), timedOut])
      clearTimeout(timer)
    },
  }
}

/** The exporters read endpoint, headers and timeout from the environment. */
async function openExporter(protocol: Protocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}

function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const [, isParentBased, base] = /^(parentbased_)?(.+)$/.exec(name) ?? []
  const sampler = root[base as keyof typeof root]()
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler
}

/** The service name, which the environment can override. Excludes host and process attributes. */
function serviceResource(): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
    .merge(detectResources({ detectors: [envDetector] }))
}

/** Wraps an exporter to report the first failure of an outage and the recovery. */
function reportOutages(exporter: SpanExporter, { onOutage, onRecovered }: TracingEvents) {
  let isOutage = false
  return Object.assign(Object.create(exporter) as SpanExporter, {
    export(...[spans, done]: Parameters<SpanExporter['export']>) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS
        if (hasFailed && !isOutage) onOutage(errorText(result.error ?? 'unknown reason'))
        if (!hasFailed && isOutage) onRecovered()
        isOutage = hasFailed
        done(result)
      })
    },
  })
}
