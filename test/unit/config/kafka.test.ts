import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'

const BROKERS = 'kafka-1:9092'
const kafkaOf = (env: Record<string, string>) => parseConfig(env).kafka

it('without KAFKA_BROKERS there is no Kafka', () => {
  expect(kafkaOf({ KAFKA_BROKERS: '' })).toBeUndefined()
})

it('brokers alone lead to the default topic and group, without TLS and login', () => {
  expect(kafkaOf({ KAFKA_BROKERS: ' kafka-1:9092, 10.0.0.2:9093,[::1]:9094' })).toEqual({
    brokers: ['kafka-1:9092', '10.0.0.2:9093', '[::1]:9094'],
    topic: 'orders.changes',
    group: 'indexer',
    sasl: undefined,
    tls: false,
    caFile: undefined,
  })
})

it('a login uses SCRAM-SHA-512 by default, and a CA file enables TLS', () => {
  const env = { KAFKA_USER: 'orders', KAFKA_PASSWORD: 'p', KAFKA_CA_FILE: '/ca.pem' }
  expect(kafkaOf({ KAFKA_BROKERS: BROKERS, ...env })).toMatchObject({
    sasl: { mechanism: 'SCRAM-SHA-512', username: 'orders', password: 'p' },
    tls: true,
    caFile: '/ca.pem',
  })
})

it('KAFKA_TLS=true enables TLS with the default CAs', () => {
  const kafka = kafkaOf({ KAFKA_BROKERS: BROKERS, KAFKA_TLS: 'true' })
  expect(kafka).toMatchObject({ tls: true, caFile: undefined })
})

describe('an invalid setting is named', () => {
  it.each<[name: string, value: string, others?: Record<string, string>]>([
    ['KAFKA_BROKERS', 'kafka-1'],
    ['KAFKA_BROKERS', 'kafka://kafka-1:9092'],
    ['KAFKA_BROKERS', 'user:password@kafka-1:9092'],
    ['KAFKA_BROKERS', 'kafka-1:9092,kafka-1:9092'],
    ['KAFKA_BROKERS', 'kafka-1:9092,'],
    ['KAFKA_BROKERS', 'kafka-1:0'],
    ['KAFKA_BROKERS', 'kafka-1:65536'],
    ['KAFKA_BROKERS', BROKERS, { STREAM_REDIS_URL: 'redis://127.0.0.1:6379' }],
    ['KAFKA_TOPIC', 'orders changes'],
    ['KAFKA_TOPIC', '..'],
    ['KAFKA_TOPIC', 'x'.repeat(242)],
    ['KAFKA_GROUP', 'two words'],
    ['KAFKA_TLS', 'yes'],
    ['KAFKA_SASL_MECHANISM', 'GSSAPI', { KAFKA_USER: 'u', KAFKA_PASSWORD: 'p' }],
    ['KAFKA_PASSWORD', '', { KAFKA_USER: 'u' }],
    ['KAFKA_USER', '', { KAFKA_PASSWORD: 'p' }],
    ['KAFKA_USER', '', { KAFKA_SASL_MECHANISM: 'PLAIN' }],
    ['KAFKA_CA_FILE', '/ca.pem', { KAFKA_TLS: 'false' }],
    ['KAFKA_CA_FILE', ' '],
    ['KAFKA_CA_FILE', '/ca.pem '],
  ])('%s=%s', (name, value, others) => {
    const env = { KAFKA_BROKERS: BROKERS, [name]: value, ...others }
    expect(() => parseConfig(env)).toThrow(new RegExp(`^  ${name}: (expected|required)`, 'm'))
  })

  it.each(['KAFKA_TOPIC', 'KAFKA_GROUP', 'KAFKA_USER', 'KAFKA_TLS', 'KAFKA_CA_FILE'])(
    '%s without KAFKA_BROKERS',
    (name) => {
      expect(() => parseConfig({ [name]: 'true' })).toThrow(`  ${name}: needs KAFKA_BROKERS`)
    },
  )
})

it('a Redis for the rate limit counters may be set beside Kafka', () => {
  const config = parseConfig({ KAFKA_BROKERS: BROKERS, REDIS_URL: 'redis://127.0.0.1:6379' })
  expect(config.kafka?.brokers).toEqual([BROKERS])
})
