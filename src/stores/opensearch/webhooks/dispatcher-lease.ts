import { setInterval } from 'node:timers/promises'
import { interruptiblePause } from '../../../lib/async/interruptible-pause.ts'
import { createMutex } from '../../../lib/async/mutex.ts'
import type { Clock } from '../../../lib/clock.ts'
import type {
  AcquireDispatcherLease,
  DispatcherLease,
  DispatcherStatus,
} from '../../../webhooks/webhook-stores.ts'
import type { OpenSearch } from '../client/client.ts'
import { readDocument } from '../client/documents/read-documents.ts'
import { replaceDocument } from '../client/documents/replace-document.ts'
import {
  createHolderName,
  isSameState,
  type ObservedLease,
  waitUntilFree,
} from '../lease-observation.ts'

export interface DispatcherLeaseOptions {
  client: OpenSearch
  /** The index of leases, by its alias. */
  index: string
  /** For each request; the duration of the lease limits it too. */
  deadlineMs: number
  leaseMs: number
  /** Milliseconds. */
  monotonic: Clock
}

/** Changed by compare-and-set only, as the writer's lease: see `write/lease/lease.md`. */
type LeaseRecord = ObservedLease['record']

/** All endpoints are one partition. */
const ID = 'webhooks-0'

/**
 * The lease of the dispatcher, one document beside that of the writer. It needs no fence: what a
 * holder sends late is a repeated attempt under the same `webhook-id`, and results are stored by
 * compare-and-set.
 */
export function createOpenSearchDispatcherLease(options: DispatcherLeaseOptions) {
  const { client, index, leaseMs, monotonic } = options
  const deadlineMs = Math.min(options.deadlineMs, leaseMs)
  const address = { index, id: ID }

  async function readLease(): Promise<ObservedLease | null> {
    const found = await readDocument(client, deadlineMs, address)
    return found && { record: leaseRecord(found.source), state: found.state }
  }

  async function replace(
    expected: ObservedLease | null,
    record: LeaseRecord,
  ): Promise<ObservedLease | null> {
    const before = expected?.state ?? null
    const state = await replaceDocument(client, { deadlineMs }, address, before, record)
    return state && { record, state }
  }

  /** Renews an acquired lease every third of its duration, until it is released or lost. */
  function start(acquired: ObservedLease, acquiredAt: number): DispatcherLease {
    const mutex = createMutex()
    const renewal = new AbortController()
    let current = acquired
    let confirmedAt = acquiredAt
    let isEnded = false

    async function renew(changes: Partial<LeaseRecord> = {}): Promise<void> {
      for (;;) {
        const startedAt = monotonic()
        const replaced = await replace(current, { ...current.record, ...changes })
        if (replaced !== null) {
          current = replaced
          confirmedAt = startedAt
          return
        }
        // Either an earlier attempt succeeded after its timeout, or another process took over.
        const now = await readLease()
        if (now?.record.holder !== current.record.holder) {
          end()
          return
        }
        current = now
      }
    }

    function end(): void {
      isEnded = true
      renewal.abort()
    }

    async function renewPeriodically(): Promise<void> {
      const timer = setInterval(leaseMs / 3, undefined, { ref: false, signal: renewal.signal })
      for await (const _ of timer) await mutex(() => renew()).catch(() => {}) // isHeld() shows it.
    }
    renewPeriodically().catch(() => {}) // end() aborts it.

    return {
      isHeld: () => !isEnded && monotonic() - confirmedAt < leaseMs,
      async release() {
        if (isEnded) return
        end()
        await mutex(() => renew({ released: true }))
      },
    }
  }

  return {
    /**
     * Becomes the dispatcher once no other process is.
     * @throws Unavailable; Error when `signal` aborts the wait, or the document is damaged
     */
    async acquire(acquireOptions: AcquireDispatcherLease): Promise<DispatcherLease> {
      const holder = createHolderName()
      for (;;) {
        const last = await waitUntilFree({
          read: readLease,
          role: 'dispatcher',
          activity: 'another dispatcher delivered',
          monotonic,
          ...acquireOptions,
        })
        const startedAt = monotonic()
        const acquired = await replace(last, { holder, released: false, lease_ms: leaseMs })
        if (acquired !== null) return start(acquired, startedAt)
      }
    },

    /** The holder, alive when it renews the lease within `waitMs` and the lease's duration. */
    async status(waitMs: number): Promise<DispatcherStatus | null> {
      const observed = await readLease()
      if (observed === null) return null
      const { holder, released, lease_ms } = observed.record
      const endsAt = monotonic() + Math.min(waitMs, lease_ms)
      let now: ObservedLease | null = observed
      while (!released && isSameState(now, observed) && monotonic() < endsAt) {
        await interruptiblePause(lease_ms / 20, undefined, 'the dispatcher was observed')
        now = await readLease()
      }
      if (now === null || isSameState(now, observed)) return { holder, alive: false }
      return { holder: now.record.holder, alive: !now.record.released }
    },
  }
}

function leaseRecord(source: unknown): LeaseRecord {
  const { holder, released, lease_ms } = Object(source) as Partial<LeaseRecord>
  if (typeof holder === 'string' && typeof lease_ms === 'number' && lease_ms > 0) {
    return { holder, released: released === true, lease_ms }
  }
  throw new Error(
    `the lease document ${ID} is damaged: stop every dispatcher, delete it, and start again`,
  )
}
