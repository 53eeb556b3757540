import { backoffMs } from '../lib/backoff.ts'
import { ApiError, ConnectionError, EdgeError, UnexpectedAnswerError } from './errors.ts'

const BACKOFF = { firstMs: 500, longestMs: 30_000 }
/** What the edge asks for when an address sent too much; in case its answer lost the header. */
const EDGE_VOLUME_MS = 300_000
/** Tries at an address that never answered as this API does: it may well be a wrong one. */
const TRIES_OF_A_STRANGER = 3
/** Tries at one that did, and now answers with something else. */
const TRIES_OF_A_PORTAL = 5

export interface Tried {
  /** How many tries of this call have failed, counted from 1. */
  failedTries: number
  /** Whether this API has ever answered this client. */
  isKnown: boolean
}

/**
 * Milliseconds to wait before a call that failed is repeated; `null` where that would change nothing. Repeating is
 * harmless: the API only reads. `random`: 0 to 1, so that many clients do not come back at once.
 */
export function retryInMs(error: unknown, tried: Tried, random: number): number | null {
  const soon = backoffMs(tried.failedTries, BACKOFF) * (0.5 + random / 2)
  if (error instanceof ApiError || error instanceof EdgeError) {
    const { status, retryAfterSeconds } = error
    const asked = retryAfterSeconds === null ? null : retryAfterSeconds * 1000
    if (status === 429) {
      // Never sooner than `soon`, whatever it says: 0 would be a hammer.
      return Math.max(asked ?? (error instanceof EdgeError ? EDGE_VOLUME_MS : 0), soon)
    }
    const mayBe = tried.isKnown || tried.failedTries < TRIES_OF_A_STRANGER
    return status >= 500 && mayBe ? Math.max(asked ?? 0, soon) : null
  }
  if (error instanceof ConnectionError) {
    if (error.isFinal) return null
    return tried.isKnown || tried.failedTries < TRIES_OF_A_STRANGER ? soon : null
  }
  if (error instanceof UnexpectedAnswerError) {
    return tried.isKnown && tried.failedTries < TRIES_OF_A_PORTAL ? soon : null
  }
  return null
}
