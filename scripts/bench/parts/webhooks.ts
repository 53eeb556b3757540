import type { Part } from '../context.ts'
import type { PartReport } from '../report.ts'
import { deadEndpointsMeasurement } from './webhooks/dead-endpoints.ts'
import { idleMeasurement, memoryMeasurement } from './webhooks/footprint.ts'
import { latencyMeasurement } from './webhooks/latency.ts'
import type { WebhookMeasurement } from './webhooks/measurement.ts'
import { startReceiver } from './webhooks/receiver-process.ts'
import { recoveryMeasurement } from './webhooks/recovery.ts'
import { throughputMeasurement } from './webhooks/throughput.ts'
import { visibilityMeasurement } from './webhooks/visibility.ts'
import { writersMeasurement } from './webhooks/writers.ts'

/** All measurements of webhooks, in their order. */
export const webhookMeasurements: readonly WebhookMeasurement[] = [
  ...[throughputMeasurement, latencyMeasurement, deadEndpointsMeasurement],
  ...[memoryMeasurement, idleMeasurement, recoveryMeasurement, writersMeasurement],
  visibilityMeasurement,
]

/** The dispatcher of webhooks and what events cost the writers, on both kinds of stores. */
export const webhooksPart: Part = {
  name: 'webhooks',
  about: 'the dispatcher of webhooks against a raw loop, and its limits',
  measurements: webhookMeasurements,
  async measure(context, scope) {
    const receiver = await startReceiver(scope)
    const chosen = webhookMeasurements.filter(({ name }) =>
      context.options.measurements.includes(name),
    )
    const reports: PartReport[] = []
    for (const { name, measure } of chosen) {
      await using own = new AsyncDisposableStack()
      context.log(`webhooks: ${name}`)
      reports.push(await measure({ ...context, receiver }, own))
    }
    return { sections: reports.flatMap(({ sections }) => sections) }
  },
}
