import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { ExpectedError } from '../../lib/errors/expected-error.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { Actor, AuditEntry, AuditIntent } from './audit-entry.ts'
import type { AuditList, AuditStore } from './audit-store.ts'

/**
 * Records changes. Keys, endpoints and orders are in separate files or indices, so the entry of a
 * change cannot be in its transaction: it is written first.
 */
export interface AuditLog {
  /**
   * Runs a change between the record of its intent and the record of its outcome.
   * @throws the error of the change; Unavailable, and nothing changed, when the intent is not
   *   stored
   */
  record<T>(actor: Actor, intent: AuditIntent, change: () => Promise<T>): Promise<T>
  /** Newest first. @throws Unavailable */
  list(query: AuditList): Promise<AuditEntry[]>
}

/** Creates a log. `clock`: epoch milliseconds. */
export function createAuditLog(store: AuditStore, clock: Clock): AuditLog {
  /** An entry whose outcome is not stored stays `unknown`, which is true. */
  async function setOutcome(id: string, outcome: AuditEntry['outcome']): Promise<void> {
    await store.setOutcome(id, outcome).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
    })
  }

  return {
    async record(actor, intent, change) {
      const id = `aud_${randomUUID().replaceAll('-', '')}`
      const { name, requestId } = actor
      await store.insert({ ...intent, id, at: clock(), actor: name, requestId, outcome: 'unknown' })
      try {
        const result = await change()
        await setOutcome(id, 'done')
        return result
      } catch (error) {
        // An expected error changed nothing. After any other the change may exist.
        if (error instanceof ExpectedError) await setOutcome(id, 'failed')
        throw error
      }
    },
    list: (query) => store.list(query),
  }
}
