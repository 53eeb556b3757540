import { createRandom, type Random } from './random.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** The step between two charges of a subscription. */
export const MONTH_MS = 30 * DAY_MS
/** How far back demo orders go. */
export const HISTORY_MS = 730 * DAY_MS

/** How long ago an order may have been created, for what happened to it to make sense. */
export interface AgeWindow {
  minMs: number
  maxMs: number
}

/** Where an order stands: everything its instants are drawn from. */
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

/** True when an order created at `createdAt` is of an age that `window` allows. */
export function isOfAge(window: AgeWindow, createdAt: number, until: number): boolean {
  const ageMs = until - createdAt
  return ageMs >= window.minMs && ageMs <= window.maxMs
}

/**
 * The instant of creation: denser towards `until`. In one block of neighbours out of seven, all
 * whose window allows it are created in the very same millisecond, as in an import.
 */
export function createdInstant(slot: OrderSlot, window: AgeWindow, random: Random): number {
  const own = slot.until - drawAge(random, window)
  const shared = sharedInstant(slot, CREATED_TOGETHER_BLOCK, STREAM.createdTogether, SHARED_AGES)
  return shared !== null && isOfAge(window, shared, slot.until) ? shared : own
}

/**
 * The instant of the last change, never before `settledAt`, the last thing that happened to the
 * order. Some orders were edited later; in one block out of seven all in the same millisecond.
 */
export function changedInstant(slot: OrderSlot, settledAt: number, random: Random): number {
  const edited = random.chance(0.1) ? laterInstant(random, settledAt, slot.until) : settledAt
  const shared = sharedInstant(slot, CHANGED_TOGETHER_BLOCK, STREAM.changedTogether, RECENT_AGES)
  return shared !== null && shared >= settledAt ? shared : edited
}

/** An instant after `from` by at most `withinMs`, and never past `until`. */
export function laterInstant(
  random: Random,
  from: number,
  until: number,
  withinMs: number = HISTORY_MS,
): number {
  return from + random.between(0, Math.min(withinMs, until - from))
}

// The square of a uniform number is dense near 0, and young orders are the many.
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
