import type { TracingSettings } from './settings.ts'
import type { Tracing, TracingEvents } from './tracing.ts'

/** Opens what the settings ask for; `null`, and none of it is loaded, where they do not. */
export async function openTracing(
  settings: TracingSettings | undefined,
  events: TracingEvents,
): Promise<Tracing | null> {
  if (settings === undefined) return null
  const { openOpenTelemetry } = await import('./opentelemetry.ts')
  return openOpenTelemetry(settings, events)
}
