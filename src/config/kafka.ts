import { createEnvironmentReader, type Environment } from './environment.ts'
import { matching, oneOf, PATH_HELP, path } from './parsers.ts'

/** The Kafka of the change stream. */
export interface KafkaSettings {
  /** `host:port`, at least one; they report the other brokers. */
  brokers: readonly string[]
  topic: string
  /** The consumer group of all writers. */
  group: string
  sasl:
    | { mechanism: (typeof saslMechanisms)[number]; username: string; password: string }
    | undefined
  tls: boolean
  caFile: string | undefined
}

const saslMechanisms = ['SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'] as const

const DETAILS = [
  'KAFKA_TOPIC',
  'KAFKA_GROUP',
  'KAFKA_USER',
  'KAFKA_PASSWORD',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_TLS',
  'KAFKA_CA_FILE',
]

/** Kafka's limit, minus the suffix of the dead letters. */
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,241}$/
const GROUP = /^\S{1,255}$/

/**
 * Parses the settings of Kafka; `undefined` without `KAFKA_BROKERS`. Adds invalid settings to
 * `problems`.
 */
export function parseKafka(env: Environment, problems: string[]): KafkaSettings | undefined {
  const { read, readOneOf } = createEnvironmentReader(env, problems)

  if (!env['KAFKA_BROKERS']) {
    for (const name of DETAILS) if (env[name]) problems.push(`${name}: needs KAFKA_BROKERS`)
    return undefined
  }
  if (env['STREAM_REDIS_URL']) {
    problems.push(
      'KAFKA_BROKERS: expected no STREAM_REDIS_URL beside it, because the change stream is either in Kafka or in Redis',
    )
  }
  const [username, password] = [env['KAFKA_USER'] ?? '', env['KAFKA_PASSWORD'] ?? '']
  if (username && !password) problems.push('KAFKA_PASSWORD: required with KAFKA_USER')
  if (!username && password) problems.push('KAFKA_USER: required with KAFKA_PASSWORD')
  if (!username && env['KAFKA_SASL_MECHANISM']) {
    problems.push('KAFKA_USER: required with KAFKA_SASL_MECHANISM')
  }
  const mechanism = readOneOf('KAFKA_SASL_MECHANISM', saslMechanisms, saslMechanisms[0])
  const tls = read('KAFKA_TLS', oneOf(['true', 'false']), 'expected true or false', undefined)
  const caFile = read('KAFKA_CA_FILE', path, PATH_HELP, undefined)
  if (caFile && tls === 'false') problems.push('KAFKA_CA_FILE: expected no KAFKA_TLS=false')
  return {
    brokers: read('KAFKA_BROKERS', brokerList, BROKERS_HELP, []),
    topic: read('KAFKA_TOPIC', matching(TOPIC), TOPIC_HELP, 'orders.changes'),
    group: read('KAFKA_GROUP', matching(GROUP), GROUP_HELP, 'indexer'),
    sasl: username && password ? { mechanism, username, password } : undefined,
    tls: tls === 'true' || caFile !== undefined,
    caFile,
  }
}

const BROKERS_HELP =
  'expected brokers separated by commas, each once, such as kafka-1:9092,kafka-2:9092, without protocol'
const TOPIC_HELP = 'expected 1 to 241 letters, digits, ".", "_" and "-"'
const GROUP_HELP = 'expected 1 to 255 characters without spaces'

/** Comma-separated `host:port`, each once. */
function brokerList(text: string): string[] | undefined {
  const brokers = text.split(',').map((part) => part.trim())
  const areValid = brokers.every((broker) => {
    const url = /^[^/@?#\s]+:\d{1,5}$/.test(broker) ? URL.parse(`kafka://${broker}`) : null
    return url !== null && url.hostname !== '' && Number(url.port) > 0
  })
  return areValid && new Set(brokers).size === brokers.length ? brokers : undefined
}
