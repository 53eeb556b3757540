import type { AuditEntry, AuditOutcome } from './audit-entry.ts'

/** The position of an entry in a list, newest first. */
export type AuditPosition = Pick<AuditEntry, 'at' | 'id'>

export interface AuditList {
  /** A live account, whose list has the entries of its sandbox too. All accounts when absent. */
  accountId?: string
  limit: number
  /** Only entries after this one in the list; from the newest when `null`. */
  after: AuditPosition | null
}

/** Entries of all accounts, in the durable store. Calls throw Unavailable. */
export interface AuditStore {
  /** Durable once it returns. */
  insert(entry: AuditEntry): Promise<void>
  setOutcome(id: string, outcome: AuditOutcome): Promise<void>
  /** Newest first. Sees every insert of this process that returned before it. */
  list(query: AuditList): Promise<AuditEntry[]>
}
