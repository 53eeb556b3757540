import { Unavailable } from '../../lib/errors/unavailable.ts'

/** The names that an error message mentions. */
export interface KafkaNames {
  topic: string
  deadLetterTopic: string
  group: string
}

/** The parts of an error of the client that are read here. */
interface ClientError extends Error {
  code?: unknown
  /** The name of an error that a broker returned. */
  apiId?: unknown
  errors?: unknown
}

/** A retry corrects neither a record that the client cannot read, nor a broker that is too old. */
const PERMANENT_CODES = [
  'PLT_KFK_UNSUPPORTED',
  'PLT_KFK_UNSUPPORTED_API',
  'PLT_KFK_UNSUPPORTED_COMPRESSION',
  'PLT_KFK_UNSUPPORTED_FORMAT',
  'PLT_KFK_OUT_OF_BOUNDS',
]
const GROUP_IN_USE = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS']

/**
 * Kafka cannot run a request now. Instead of a cause, it has the names of the errors that brokers
 * returned: an error of the client may contain records with personal data.
 */
class KafkaUnavailable extends Unavailable {
  readonly brokerErrors: readonly string[]

  constructor(message: string, brokerErrors: readonly string[]) {
    super(message)
    this.name = 'KafkaUnavailable'
    this.brokerErrors = brokerErrors
  }
}

/** Whether a broker returned one of these errors. */
export function hasBrokerError(error: unknown, names: readonly string[]): boolean {
  const found = error instanceof KafkaUnavailable ? error.brokerErrors : namesOf(flatten(error))
  return found.some((name) => names.includes(name))
}

/**
 * Translates an error of the client. Most are Unavailable, with the setting to correct: a missing
 * topic or a missing permission can be added while the process retries.
 */
export function toStoreError(error: unknown, { topic, deadLetterTopic, group }: KafkaNames): Error {
  if (error instanceof Unavailable) return error
  const all = flatten(error)
  const unavailable = (message: string) => new KafkaUnavailable(message, namesOf(all))
  const isCode = (code: string) => all.some((one) => one.code === code)

  const missing = all
    .map(({ message }) => /^Unknown topic (.+)\.$/.exec(message)?.[1])
    .find(Boolean)
  if (missing !== undefined || hasBrokerError(error, ['UNKNOWN_TOPIC_OR_PARTITION'])) {
    return unavailable(
      `Kafka has no topic "${missing ?? topic}": create it, or correct KAFKA_TOPIC. Dead letters need "${deadLetterTopic}"`,
    )
  }
  if (isCode('PLT_KFK_AUTHENTICATION')) {
    return unavailable(
      'Kafka rejected the login: check KAFKA_USER, KAFKA_PASSWORD and KAFKA_SASL_MECHANISM',
    )
  }
  if (hasBrokerError(error, ['TOPIC_AUTHORIZATION_FAILED'])) {
    return unavailable(
      `Kafka denies KAFKA_USER a topic: grant Read, Write and Describe on "${topic}", and Write and Describe on "${deadLetterTopic}"`,
    )
  }
  if (hasBrokerError(error, ['GROUP_AUTHORIZATION_FAILED'])) {
    return unavailable(
      `Kafka denies KAFKA_USER the consumer group of KAFKA_GROUP: grant Read on the group "${group}"`,
    )
  }
  if (hasBrokerError(error, GROUP_IN_USE)) {
    return unavailable(
      `another consumer is a member of the group "${group}": set KAFKA_GROUP to a group that only this service uses`,
    )
  }
  const last = all.at(-1)
  if (last === undefined) return new Error(String(error))
  if (isCode('PLT_KFK_NETWORK') || isCode('PLT_KFK_TIMEOUT')) {
    return unavailable(`no response from the brokers of KAFKA_BROKERS: ${last.message}`)
  }
  const isPermanent = PERMANENT_CODES.some(isCode)
  if (isPermanent || !all.some(({ code }) => String(code).startsWith('PLT_KFK_'))) {
    return error instanceof Error ? error : last
  }
  return unavailable(`Kafka is temporarily unable to run the request: ${last.message}`)
}

function namesOf(errors: readonly ClientError[]): string[] {
  return errors.flatMap(({ apiId }) => (typeof apiId === 'string' ? [apiId] : []))
}

/** The error, and the errors that it wraps, the innermost last. */
function flatten(error: unknown): ClientError[] {
  if (!(error instanceof Error)) return []
  const one: ClientError = error
  const wrapped = [...(Array.isArray(one.errors) ? one.errors : []), one.cause]
  return [one, ...wrapped.flatMap(flatten)]
}
