import { Admin, Base, Producer } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/kafka.ts'
import { withDeadline } from '../../lib/async/with-deadline.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { type KafkaNames, toStoreError } from './kafka-errors.ts'

export interface KafkaOptions extends Omit<KafkaSettings, 'tls' | 'caFile'> {
  /** `undefined`: no TLS. `ca`: PEM of the authorities that replace the default ones. */
  tls: { ca: string | undefined } | undefined
}

export interface KafkaConnection extends KafkaNames {
  /** Only fetches: the broker holds a fetch that waits, and what is behind it on the connection. */
  fetcher: Base
  admin: Admin
  producer: Producer
  /**
   * Runs requests with a deadline.
   * @throws Unavailable when Kafka does not respond in time, with the effect unknown, or cannot run
   * the request now
   */
  send<T>(work: () => Promise<T>, deadlineMs?: number): Promise<T>
  close(): void
}

const DEADLINE_MS = 10_000
const CONNECT_MS = 5_000

/** Creates the clients, which connect at the first request, and again after an outage. */
export function connectKafka({ brokers, topic, group, sasl, tls }: KafkaOptions): KafkaConnection {
  const options = {
    clientId: 'public-orders-api',
    bootstrapBrokers: [...brokers],
    connectTimeout: CONNECT_MS,
    requestTimeout: DEADLINE_MS,
    // For a new leader or coordinator. The callers retry longer outages, with a log.
    retries: 3,
    retryDelay: 250,
    ...(sasl && { sasl }),
    ...(tls && { tls: tls.ca === undefined ? {} : { ca: tls.ca } }),
  }
  const fetcher = new Base(options)
  const admin = new Admin(options)
  const producer = new Producer(options)
  const clients = [fetcher, admin, producer]
  const names = { topic, deadLetterTopic: `${topic}.refused`, group }

  return {
    ...names,
    fetcher,
    admin,
    producer,
    async send(work, deadlineMs = DEADLINE_MS) {
      const timedOut = () => new Unavailable(`Kafka did not respond within ${deadlineMs} ms`)
      try {
        return await withDeadline(work, deadlineMs, timedOut)
      } catch (error) {
        // Leaders may have moved.
        for (const client of clients) client.clearMetadata()
        throw toStoreError(error, names)
      }
    },
    close() {
      for (const client of clients) client.close().catch(() => {})
    },
  }
}
