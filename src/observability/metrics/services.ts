import { Counter, Histogram, type Registry } from 'prom-client'
import type { KeyLookupOutcome } from '../../auth/key-cache.ts'
import type { LimiterDecision } from '../../rate-limit/fallback-limiter.ts'
import type { OpenSearchOperation } from '../../stores/opensearch/client/client.ts'
import type { DecodePath } from '../../stores/opensearch/read/decode-orders.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** What is counted of the services that a request needs. */
export interface ServiceMetrics {
  /** Seconds in OpenSearch, for each request to it. */
  opensearchSeconds: Histogram<'operation' | 'outcome'>
  /** Seconds until Redis has decided, or until this process stopped waiting. */
  redisSeconds: Histogram<'decision' | 'outcome'>
  /** Decisions on limits, whoever made them. */
  limiterDecisions: Counter<'decision' | 'result'>
  /** Decisions on limits that this process made by itself, because Redis did not answer in time. */
  fallbackDecisions: Counter<'decision'>
  keyLookups: Counter<'result'>
  /** Answers with orders: these were cut out, or parsed, and why. */
  decodePaths: Counter<'reading'>
}

/** How a call ended; abandoned: the caller of its request disconnected. */
export type Outcome = (typeof OUTCOMES)[number]

const OUTCOMES = ['ok', 'failed', 'abandoned'] as const
const DECISION_OUTCOMES = ['ok', 'failed'] satisfies Outcome[]
const DECODE_PATHS = ['cut', 'older_shape', 'unexpected'] satisfies DecodePath[]
const RESULTS = ['allowed', 'denied'] as const
const LIMITER_DECISIONS = ['take', 'blocked', 'count_failure'] satisfies LimiterDecision[]
const KEY_LOOKUP_OUTCOMES = ['hit', 'miss', 'stale'] satisfies KeyLookupOutcome[]
const OPENSEARCH_OPERATIONS = [
  'search',
  'latest_write',
  'get_order',
  'get_key',
  'get_account',
  'update_key',
] satisfies OpenSearchOperation[]

/** Seconds: from a Redis in the same rack to the deadline of a decision, and a little beyond. */
const DECISION_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1]

export function createServiceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry]
  const opensearchSeconds = new Histogram({
    name: 'opensearch_request_duration_seconds',
    help: 'Seconds a request to OpenSearch took, by operation and outcome.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  })
  const redisSeconds = new Histogram({
    name: 'redis_decision_duration_seconds',
    help: 'Seconds Redis took to decide on a limit, by decision and outcome.',
    labelNames: ['decision', 'outcome'] as const,
    buckets: DECISION_BUCKETS,
    registers,
  })
  const limiterDecisions = new Counter({
    name: 'limiter_decisions_total',
    help: 'Decisions on limits: take is of an account; a denied blocked or count_failure is an IP block.',
    labelNames: ['decision', 'result'] as const,
    registers,
  })
  const fallbackDecisions = new Counter({
    name: 'limiter_degraded_decisions_total',
    help: 'Decisions on limits made by this process alone, because Redis did not answer in time.',
    labelNames: ['decision'] as const,
    registers,
  })
  const keyLookups = new Counter({
    name: 'key_cache_lookups_total',
    help: 'Looks at the cache of keys: stale are old ones served while the store is down.',
    labelNames: ['result'] as const,
    registers,
  })
  const decodePaths = new Counter({
    name: 'opensearch_order_answers_total',
    help: 'Answers of OpenSearch with orders, by how those were had: cut is the fast way, others were parsed.',
    labelNames: ['reading'] as const,
    registers,
  })
  for (const reading of DECODE_PATHS) decodePaths.inc({ reading }, 0)
  for (const operation of OPENSEARCH_OPERATIONS) {
    for (const outcome of OUTCOMES) opensearchSeconds.zero({ operation, outcome })
  }
  for (const decision of LIMITER_DECISIONS) {
    for (const outcome of DECISION_OUTCOMES) redisSeconds.zero({ decision, outcome })
    for (const result of RESULTS) limiterDecisions.inc({ decision, result }, 0)
    fallbackDecisions.inc({ decision }, 0)
  }
  for (const result of KEY_LOOKUP_OUTCOMES) keyLookups.inc({ result }, 0)
  return {
    opensearchSeconds,
    redisSeconds,
    limiterDecisions,
    fallbackDecisions,
    keyLookups,
    decodePaths,
  }
}
