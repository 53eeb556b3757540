import { Counter, Histogram, type Registry } from 'prom-client'
import type { KeyLookupOutcome } from '../../auth/key-cache.ts'
import type { LimiterDecision } from '../../rate-limit/limiter.ts'
import type { OpenSearchOperation } from '../../stores/opensearch/client/client.ts'
import type { DecodePath } from '../../stores/opensearch/read/decode-orders.ts'
import { DECISION_BUCKETS, DURATION_BUCKETS } from './buckets.ts'

/** Metrics of the services behind a request. */
export interface ServiceMetrics {
  /** Seconds per request to OpenSearch. */
  opensearchSeconds: Histogram<'operation' | 'outcome'>
  /** Seconds until the decision of Redis or the deadline. */
  redisSeconds: Histogram<'decision' | 'outcome'>
  /** Rate-limit decisions, shared and local. */
  limiterDecisions: Counter<'decision' | 'result'>
  /** Local rate-limit decisions, made because Redis did not respond in time. */
  fallbackDecisions: Counter<'decision'>
  keyLookups: Counter<'result'>
  /** OpenSearch responses with orders, by decoding path. */
  decodePaths: Counter<'reading'>
}

/** Result of a call; `abandoned`: the client disconnected. */
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
  'get_orders',
  'get_key',
  'get_account',
  'update_key',
] satisfies OpenSearchOperation[]

/** Registers the service metrics, with every series at zero. */
export function createServiceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry]
  const opensearchSeconds = new Histogram({
    name: 'opensearch_request_duration_seconds',
    help: 'Duration of requests to OpenSearch in seconds, by operation and outcome.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  })
  const redisSeconds = new Histogram({
    name: 'redis_decision_duration_seconds',
    help: 'Duration of rate-limit decisions in Redis in seconds, by decision and outcome.',
    labelNames: ['decision', 'outcome'] as const,
    buckets: DECISION_BUCKETS,
    registers,
  })
  const limiterDecisions = new Counter({
    name: 'limiter_decisions_total',
    help: 'Rate-limit decisions: take is for an account; a denied blocked or count_failure is an IP block.',
    labelNames: ['decision', 'result'] as const,
    registers,
  })
  const fallbackDecisions = new Counter({
    name: 'limiter_degraded_decisions_total',
    help: 'Local rate-limit decisions, made because Redis did not respond in time.',
    labelNames: ['decision'] as const,
    registers,
  })
  const keyLookups = new Counter({
    name: 'key_cache_lookups_total',
    help: 'Lookups in the key cache; stale: served from an old entry while the store is unavailable.',
    labelNames: ['result'] as const,
    registers,
  })
  const decodePaths = new Counter({
    name: 'opensearch_order_answers_total',
    help: 'OpenSearch responses with orders, by decoding path: cut is the fast path, the others are parsed.',
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
