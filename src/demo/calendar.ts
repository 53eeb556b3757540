import { DAY_MS, HOUR_MS } from '../lib/durations.ts'
import { createRandom, type Random } from './random.ts'

/** Interval between two charges of a subscription. */
export const MONTH_MS = 30 * DAY_MS
/** Maximum age of demo orders. */
export const HISTORY_MS = 730 * DAY_MS

/** The range of ages that makes the history of an order plausible. */
export interface AgeWindow {
  minMs: number
  maxMs: number
}

/** The inputs for the timestamps of an order. */
export interface OrderSlot {
  seed: number
  index: number
  until: number
}

const STREAM = { createdTogether: 101, changedTogether: 102 }
const NEIGHBOURS = 5
const BLOCKS_IN_A_ROUND = 7
const CREATED_TOGETHER_BLOCK = 2
const CHANGED_TOGETHER_BLOCK = 4
const SHARED_AGES: AgeWindow = { minMs: HOUR_MS, maxMs: HISTORY_MS }
const RECENT_AGES: AgeWindow = { minMs: 0, maxMs: MONTH_MS }

/** Whether the age of an order created at `createdAt` is within `window`. */
export function isOfAge(window: AgeWindow, createdAt: number, until: number): boolean {
  const ageMs = until - createdAt
  return ageMs >= window.minMs && ageMs <= window.maxMs
}

/**
 * The creation time, denser towards `until`. In every seventh block, all orders whose window allows
 * it share one millisecond, as in an import.
 */
export function createdInstant(slot: OrderSlot, window: AgeWindow, random: Random): number {
  const own = slot.until - drawAge(random, window)
  const shared = sharedInstant(slot, CREATED_TOGETHER_BLOCK, STREAM.createdTogether, SHARED_AGES)
  return shared !== null && isOfAge(window, shared, slot.until) ? shared : own
}

/**
 * The time of the last change, at or after `settledAt`, the last event of the payments. Some orders
 * were edited later: in every seventh block, all in one millisecond.
 */
export function changedInstant(slot: OrderSlot, settledAt: number, random: Random): number {
  const edited = random.chance(0.1) ? laterInstant(random, settledAt, slot.until) : settledAt
  const shared = sharedInstant(slot, CHANGED_TOGETHER_BLOCK, STREAM.changedTogether, RECENT_AGES)
  return shared !== null && shared >= settledAt ? shared : edited
}

/** A time after `from` by at most `withinMs`, and not after `until`. */
export function laterInstant(
  random: Random,
  from: number,
  until: number,
  withinMs: number = HISTORY_MS,
): number {
  return from + random.between(0, Math.min(withinMs, until - from))
}

// The square of a uniform number is dense near 0, which makes most orders recent.
function drawAge(random: Random, { minMs, maxMs }: AgeWindow): number {
  return minMs + Math.floor((maxMs - minMs) * random.next() ** 2)
}

function sharedInstant(
  slot: OrderSlot,
  offset: number,
  stream: number,
  ages: AgeWindow,
): number | null {
  const block = Math.floor(slot.index / NEIGHBOURS)
  if (block % BLOCKS_IN_A_ROUND !== offset) return null
  return slot.until - drawAge(createRandom(slot.seed, stream, block), ages)
}
