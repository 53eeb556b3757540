import type {
  SessionStore,
  StoredLink,
  StoredSession,
} from '../../../management/sessions/session-store.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching, removeMatching } from '../client/bulk/write-matching.ts'
import { readDocument } from '../client/documents/read-documents.ts'
import type { IndexTarget } from '../client/search/document-search.ts'
import { storedObject } from './stored-object.ts'

const SESSION_FIELDS = ['digest', 'accountId', 'subject', 'capabilities', 'expiresAt'] as const
const LINK_FIELDS = [...SESSION_FIELDS, 'sessionMs'] as const

/** Ids of links and of sessions are different, so that a link is no session. */
const linkId = (digest: string) => `link:${digest}`
const sessionId = (digest: string) => `session:${digest}`

/**
 * Links and sessions of the console in a cluster, read by id and therefore always current.
 * `readDeadlineMs`: for each read, the response body included.
 */
export function createOpenSearchSessionStore(
  target: IndexTarget,
  readDeadlineMs: number,
): SessionStore {
  const { client, index } = target

  async function insert(id: string, session: StoredSession): Promise<void> {
    const source = { account_id: session.accountId, expires_at: session.expiresAt, session }
    await sendWrites(target, [{ action: { create: { _id: id } }, source }])
  }

  async function read<T extends StoredSession>(id: string, fields: readonly (keyof T & string)[]) {
    const found = await readDocument(client, readDeadlineMs, { index, id })
    if (found === null) return null
    const session = storedObject<T>(target, { id, source: found.source }, 'session', fields)
    return { session, state: found.state }
  }

  return {
    insertLink: (link) => insert(linkId(link.digest), link),
    async takeLink(digest) {
      const id = linkId(digest)
      const found = await read<StoredLink>(id, LINK_FIELDS)
      if (found === null) return null
      // Conditional, so that of concurrent calls one removes it.
      const [state] = await sendWrites(target, [
        { action: { delete: { _id: id, ...found.state } } },
      ])
      return typeof state === 'object' ? found.session : null
    },
    insert: (session) => insert(sessionId(session.digest), session),
    async find(digest) {
      const found = await read<StoredSession>(sessionId(digest), SESSION_FIELDS)
      return found?.session ?? null
    },
    async remove(digest) {
      await sendWrites(target, [{ action: { delete: { _id: sessionId(digest) } } }])
    },
    async removeOf(accountId) {
      await removeMatching(target, { term: { account_id: accountId } })
    },
    async purge(beforeMs) {
      await purgeMatching(target, { range: { expires_at: { lt: beforeMs } } })
    },
  }
}
