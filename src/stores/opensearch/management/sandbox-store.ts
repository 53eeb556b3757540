import type { SandboxOrder, SandboxStore } from '../../../management/sandbox/sandbox-store.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { readDocument } from '../client/documents/read-documents.ts'
import { replaceDocument } from '../client/documents/replace-document.ts'
import {
  type IndexTarget,
  refreshIndex,
  searchHits,
  searchRaw,
} from '../client/search/document-search.ts'
import { documentId } from '../order-documents/order-document-source.ts'
import { storedObject } from './stored-object.ts'

/** The document of an order. */
interface SandboxSource {
  account_id: string
  order_id: string
  made_at: number
  is_erased: boolean
  order: SandboxOrder
}

const FIELDS = ['accountId', 'orderId', 'scenario', 'madeAt', 'source'] as const

const ofAccount = (accountId: string) => ({ term: { account_id: accountId } })

/** The source orders of sandboxes in a cluster. A list and a count refresh the index. */
export function createOpenSearchSandboxStore(target: IndexTarget): SandboxStore {
  const { client, index, deadlineMs } = target

  async function read(accountId: string, orderId: string) {
    const address = { index, id: documentId({ accountId, orderId }) }
    const found = await readDocument(client, deadlineMs, { ...address, preference: '_primary' })
    return found && { order: orderOf(address.id, found.source), state: found.state, address }
  }

  const orderOf = (id: string, source: unknown) =>
    storedObject<SandboxOrder>(target, { id, source }, 'order', FIELDS)

  async function find(accountId: string, orderId: string): Promise<SandboxOrder | null> {
    for (;;) {
      const found = await read(accountId, orderId)
      if (found === null) return null
      const { address, order, state } = found
      const written = replaceDocument(client, { deadlineMs }, address, state, sourceOf(order))
      if ((await written) !== null) return order
    }
  }

  return {
    async insert(order) {
      const write = { action: { create: { _id: documentId(order) } }, source: sourceOf(order) }
      const [outcome] = await sendWrites(target, [write])
      // A repeated request after a lost response finds its own order.
      if (outcome === 'conflict') await find(order.accountId, order.orderId)
    },
    find,
    async replace(order) {
      const found = await read(order.accountId, order.orderId)
      if (found?.order.source.version !== order.source.version - 1) return false
      const { address, state } = found
      const replaced = replaceDocument(client, { deadlineMs }, address, state, sourceOf(order))
      return (await replaced) !== null
    },
    async count(accountId) {
      await refreshIndex(target)
      const bool = {
        filter: [ofAccount(accountId)],
        must_not: [{ term: { is_erased: true } }],
      }
      const { hits } = await searchRaw(target, { size: 0, track_total_hits: true, query: { bool } })
      return hits?.total?.value ?? 0
    },
    async list({ accountId, limit, after }) {
      await refreshIndex(target)
      const hits = await searchHits(target, {
        size: limit,
        query: { bool: { filter: [ofAccount(accountId)] } },
        sort: [{ made_at: 'desc' }, { order_id: 'desc' }],
        ...(after !== null && { search_after: [after.madeAt, after.orderId] }),
      })
      return hits.map(({ id, source }) => orderOf(id, source))
    },
  }
}

function sourceOf(order: SandboxOrder): SandboxSource {
  const { accountId, orderId, madeAt, source } = order
  const is_erased = source.deleted === true
  return { account_id: accountId, order_id: orderId, made_at: madeAt, is_erased, order }
}
