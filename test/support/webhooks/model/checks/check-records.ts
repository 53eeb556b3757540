import { isDeepStrictEqual } from 'node:util'
import type { OrderVersionRecord } from '../../../../../src/indexing/writer/version-record.ts'
import type { Order } from '../../../../../src/orders/order.ts'
import { type EventRecord, firstSequence } from '../../../../../src/webhooks/events/event-record.ts'
import type { OrderState } from '../../../../../src/webhooks/events/order-state.ts'
import type { Recording } from '../writing/recording.ts'
import { contentOf, type SourceHistory } from '../writing/source-history.ts'
import type { Violations } from './violation.ts'

/** What the checks of records need of a walk. */
export interface RecordedWalk {
  history: SourceHistory
  violations: Violations
  /** Accounts that have an endpoint for every type, from before the walk to its end. */
  steadyAccounts: readonly string[]
  recording: Pick<Recording, 'writeCount' | 'hasSilentWrites'>
}

/** An event record, and the number of writes when it was seen. */
export interface SeenRecord extends EventRecord {
  seenAt: number
}

/** The view of an account as any reader sees it now. */
export type ReadView = (accountId: string, orderId: string) => Promise<Order | null>

/** Invariant 2: the state of a record is stored when the record can be read. */
export async function checkDurable(
  { history, violations }: Pick<RecordedWalk, 'history' | 'violations'>,
  { orderId, version, accountIds }: EventRecord,
  readView: ReadView,
): Promise<void> {
  for (const accountId of accountIds) {
    const order = await readView(accountId, orderId)
    const shown = history.newestShowing(orderId, accountId, order && contentOf(order))
    if (shown >= version) continue
    const message = `a record of v${version} exists while ${accountId} sees v${shown}`
    violations.add(2, orderId, message)
  }
}

/** Invariants 1 and 3 of one order at rest. `records`: in any order. */
export function checkAtRest(
  walk: RecordedWalk,
  orderId: string,
  records: readonly SeenRecord[],
  versionRecord: OrderVersionRecord | undefined,
): void {
  const sorted = records.toSorted((one, other) => firstSequence(one) - firstSequence(other))
  checkSequences(walk, orderId, sorted)
  checkVersions(walk, orderId, sorted)
  checkChain(walk, orderId, sorted)
  checkLastState(walk, orderId, sorted, versionRecord)
  for (const accountId of walk.steadyAccounts) checkAccount(walk, orderId, sorted, accountId)
}

/** Invariant 1: no gap, and no sequence twice. */
function checkSequences(
  { violations }: RecordedWalk,
  orderId: string,
  records: readonly SeenRecord[],
): void {
  const sequences = records.flatMap(({ events }) => events.map(({ sequence }) => sequence))
  if (sequences.every((sequence, at) => sequence === at + 1)) return
  violations.add(1, orderId, `the sequences are ${sequences.join(', ')}`)
}

/** Invariant 1: no version is announced after a newer one. */
function checkVersions(
  { violations }: RecordedWalk,
  orderId: string,
  records: readonly SeenRecord[],
): void {
  for (const [at, { version }] of records.entries()) {
    const last = records[at - 1]?.version ?? 0
    if (version < last) violations.add(1, orderId, `v${version} is announced after v${last}`)
  }
}

/** Invariant 1: a record starts where the last one ended. */
function checkChain(walk: RecordedWalk, orderId: string, records: readonly SeenRecord[]): void {
  const { history, violations } = walk
  for (const [at, record] of records.entries()) {
    const last = records[at - 1]
    const from = last?.version ?? 0
    if (record.after === null) continue // An erasure leaves no state.
    if (isContinuous(walk, orderId, last, record)) {
      if (isDeepStrictEqual(record.before, last?.after ?? null)) continue
    } else if (record.before === null || isAnyState(history, orderId, record.before)) continue
    violations.add(
      1,
      orderId,
      `the record of v${record.version} starts at ${describe(record.before)}, and that of v${from} ended at ${describe(last?.after)}`,
    )
  }
}

/** Whether every version between two records had to be announced. */
function isContinuous(
  { steadyAccounts, recording }: RecordedWalk,
  orderId: string,
  last: SeenRecord | undefined,
  { seenAt }: SeenRecord,
): boolean {
  if (!last?.accountIds.some((accountId) => steadyAccounts.includes(accountId))) return false
  return !recording.hasSilentWrites(orderId, last.seenAt, seenAt)
}

/** Whether an order ever had this state. Stored views do not show the last payment. */
function isAnyState(history: SourceHistory, orderId: string, state: OrderState): boolean {
  const shown = (candidate: OrderState | null) =>
    JSON.stringify(candidate && { ...candidate, last_payment_id: null })
  const { version: count } = history.latest(orderId)
  const states = Array.from({ length: count }, (_, at) => history.state(orderId, at + 1))
  return states.some((candidate) => shown(candidate) === shown(state))
}

/** Invariant 3: the announced state is the stored one, and the last record has it. */
function checkLastState(
  { history, violations, recording, steadyAccounts }: RecordedWalk,
  orderId: string,
  records: readonly SeenRecord[],
  versionRecord: OrderVersionRecord | undefined,
): void {
  const { version } = history.latest(orderId)
  if (versionRecord?.version !== version) {
    violations.add(3, orderId, `v${versionRecord?.version} is recorded instead of v${version}`)
    return
  }
  const state = history.state(orderId, version)
  const { tracked } = versionRecord.announced ?? {}
  if (tracked && !isAnnounced(tracked.state, state)) {
    violations.add(3, orderId, `${describe(tracked.state)} is announced, not ${describe(state)}`)
  }
  const last = records.at(-1)
  const isTracked = last?.accountIds.some((accountId) => steadyAccounts.includes(accountId))
  if (!last || !isTracked) return
  if (recording.hasSilentWrites(orderId, last.seenAt, recording.writeCount())) return
  if (!isAnnounced(last.after, state)) {
    violations.add(
      3,
      orderId,
      `the last record has ${describe(last.after)}, not ${describe(state)}`,
    )
  }
}

/** Equal states, but for a new payment that is neither received nor has failed. */
function isAnnounced(announced: OrderState | null, stored: OrderState | null): boolean {
  const isToBeAnnounced =
    (stored?.status === 'PAID' && stored.payment_status === 'PAID') ||
    stored?.payment_status === 'DECLINED' ||
    stored?.payment_status === 'UNPAID'
  if (isToBeAnnounced || announced === null || stored === null)
    return isDeepStrictEqual(announced, stored)
  const { last_payment_id } = stored
  return isDeepStrictEqual({ ...announced, last_payment_id }, stored)
}

/** Invariant 3 for one account: its events announce every change of its view, and nothing else. */
function checkAccount(
  { history, violations, recording }: RecordedWalk,
  orderId: string,
  records: readonly SeenRecord[],
  accountId: string,
): void {
  const seenIn = (version: number) => ({
    content: history.content(orderId, accountId, version),
    state: history.state(orderId, version),
  })
  let announced = 0
  let announcedAt = 0
  for (const { version, events, seenAt } of records) {
    const types = events
      .filter(({ accountIds }) => accountIds.includes(accountId))
      .map(({ type }) => type)
    if (types.length === 0) continue
    if (!recording.hasSilentWrites(orderId, announcedAt, seenAt)) {
      const before = seenIn(announced)
      const after = seenIn(version)
      const hadView = before.content !== null
      const hasView = after.content !== null
      const expectations: [boolean, string][] = [
        [!isDeepStrictEqual(before, after), 'announces no change'],
        [types.includes('order.created') === (!hadView && hasView), 'is wrong about order.created'],
        [types.includes('order.removed') === (hadView && !hasView), 'is wrong about order.removed'],
      ]
      for (const [isMet, fault] of expectations) {
        if (isMet) continue
        const message = `the record of v${version} (${types.join(', ')}) ${fault} since v${announced} for ${accountId}`
        violations.add(3, orderId, message)
      }
    }
    announced = version
    announcedAt = seenAt
  }
  const { version } = history.latest(orderId)
  if (recording.hasSilentWrites(orderId, announcedAt, recording.writeCount())) return
  if (seenIn(announced).content !== seenIn(version).content) {
    const message = `${accountId} was sent nothing of v${version} since v${announced}`
    violations.add(3, orderId, message)
  }
}

function describe(state: OrderState | null | undefined): string {
  return JSON.stringify(state ?? null)
}
