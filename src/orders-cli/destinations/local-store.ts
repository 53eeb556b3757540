import type { SyncStore } from '../../client/client.ts'

/** A store on this machine, locked by this process. */
export interface LocalStore extends Required<Omit<SyncStore, 'remove'>> {
  /** New or changed orders since the store was opened. */
  changes(): number
  /** Releases the lock. */
  close(): Promise<void>
}

/** The error for a destination that another process has locked. */
export const busyMessage = (name: string) => `Outro processo já sincroniza ${name}.`
