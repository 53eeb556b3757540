import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import { type Notice, noticeKinds } from '../dispatcher-events.ts'

/** The notices of endpoints that the dispatcher has disabled. */
export interface DisabledNotices {
  /** Whether the endpoint was disabled without a notice that counts as sent. */
  isLacking(endpoint: Endpoint): boolean
  /** Sends the notice, unless it is not lacking or on its way. Nothing waits for it. */
  send(endpoint: Endpoint): void
}

export interface DisabledNoticesOptions {
  endpoints: Pick<EndpointStore, 'update'>
  /** Returns whether the next dispatcher need not repeat the notice. Never rejects. */
  notify(notice: Notice): Promise<boolean>
  /** Runs work that is repeated while the store is unavailable. Never rejects. */
  persist(work: () => Promise<unknown>): Promise<void>
}

/** The notice of a disabled endpoint is the last one. */
const ALL_NOTICES = noticeKinds.length

/**
 * Creates the notices. Each is counted after it is sent: the next dispatcher repeats it, under the
 * same id, after a crash.
 */
export function createDisabledNotices(options: DisabledNoticesOptions): DisabledNotices {
  /** Failures of endpoints whose last notice is not stored as sent yet. */
  const sending = new Set<string>()

  function isLacking({ disabledReason, noticesSent }: Endpoint): boolean {
    const isAutomatic = disabledReason === 'failing' || disabledReason === 'gone'
    return isAutomatic && noticesSent < ALL_NOTICES
  }

  return {
    isLacking,
    send(endpoint) {
      const { id, accountId, failingSince, disabledReason } = endpoint
      const name = `${id} ${failingSince}`
      if (!isLacking(endpoint) || sending.has(name)) return
      sending.add(name)
      const count = (current: Endpoint) =>
        isLacking(current) && current.failingSince === failingSince
          ? { ...current, noticesSent: ALL_NOTICES }
          : null
      void options
        .notify({ kind: 'disabled', endpointId: id, accountId, failingSince, disabledReason })
        .then(async (isDone) => {
          if (isDone) await options.persist(() => options.endpoints.update(id, count))
          sending.delete(name)
        })
    },
  }
}
