import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'
import { MAX_REQUESTS } from '../sending/request-limit.ts'
import type { ProcessLimits } from './lanes/lane-scheduler.ts'

/** Durations in milliseconds. */
export interface DispatcherSettings {
  /** The pause between two reads of the event feed without a record. */
  pollMs: number
  /** Event records that become deliveries at a time. */
  fanOutPage: number
  /** The age of the known endpoints at which changes are read. */
  refreshMs: number
  /** How often due retries and probes are looked up. */
  tickMs: number
  /** How often the health of endpoints is written and checked. */
  healthMs: number
  /** How often what is old is removed. */
  housekeepingMs: number
  /** How often all endpoints are searched for pending deliveries. */
  reloadMs: number
  /** How long a stop waits for requests in flight and their results. */
  stopMs: number
  /** An endpoint without a success for this long is disabled, but not before a whole schedule. */
  giveUpMs: number
  /** How long finished deliveries are kept. */
  retentionMs: number
  limits: ProcessLimits
  /** Deliveries in memory that wait to be sent. Each lane may have a few beyond it. */
  maxBuffered: number
}

/** A store that is remote needs a longer `pollMs` and a larger `fanOutPage`. */
export const defaultSettings: DispatcherSettings = {
  pollMs: 50,
  fanOutPage: 256,
  refreshMs: 2_000,
  tickMs: 50,
  healthMs: 500,
  housekeepingMs: 10 * MINUTE_MS,
  reloadMs: 5 * MINUTE_MS,
  stopMs: 20_000,
  giveUpMs: 72 * HOUR_MS,
  retentionMs: 30 * DAY_MS,
  limits: { total: MAX_REQUESTS, restricted: 64 },
  maxBuffered: 4_096,
}
