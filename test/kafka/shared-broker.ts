import type { TestProject } from 'vitest/node'
import { startKafka } from '../harness/services/kafka/kafka.ts'

/** Starts the broker of the tier, before its first file. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kafka = await startKafka()
  project.provide('kafkaBroker', kafka.plainBroker)
  return kafka.stop
}
