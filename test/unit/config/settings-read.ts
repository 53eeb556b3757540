import { parseConfig } from '../../../src/config/config.ts'

/** The settings that `parseConfig` reads, also those that only another setting makes it read. */
export function settingsRead(): string[] {
  const names = new Set<string>()
  const given: Record<string, string> = {
    KAFKA_BROKERS: 'kafka-1:9092',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
  }
  const get = (_target: object, name: string) => {
    names.add(name)
    return given[name]
  }
  parseConfig(new Proxy({}, { get }))
  return [...names]
}
