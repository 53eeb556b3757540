import type { SandboxOrder, SandboxStore } from '../../../management/sandbox/sandbox-store.ts'
import { readDocument } from '../client/documents.ts'
import { replaceDocument } from '../client/replace-document.ts'
import { completeRawHits } from '../client/search-response.ts'
import { sendItems } from '../documents/bulk.ts'
import { type IndexTarget, refreshIndex, searchRaw } from '../documents/search.ts'
import { storedObject } from './stored-object.ts'

/** The document of an order. */
interface SandboxSource {
  account_id: string
  order_id: string
  made_at: number
  order: SandboxOrder
}

const FIELDS = ['accountId', 'orderId', 'scenario', 'madeAt', 'source'] as const

const documentId = (accountId: string, orderId: string) => `${accountId}:${orderId}`

/** The source orders of sandboxes in a cluster. A list refreshes the index. */
export function createOpenSearchSandboxStore(target: IndexTarget): SandboxStore {
  const { client, index, deadlineMs } = target

  async function read(accountId: string, orderId: string) {
    const address = { index, id: documentId(accountId, orderId) }
    const found = await readDocument(client, deadlineMs, { ...address, preference: '_primary' })
    return found && { order: orderOf(address.id, found.source), state: found.state, address }
  }

  const orderOf = (id: string, source: unknown) =>
    storedObject<SandboxOrder>(target, { id, source }, 'order', FIELDS)

  return {
    async insert(order) {
      const id = documentId(order.accountId, order.orderId)
      // A repeated request after a lost response finds its own order.
      await sendItems(target, [{ action: { create: { _id: id } }, source: sourceOf(order) }])
    },
    async find(accountId, orderId) {
      return (await read(accountId, orderId))?.order ?? null
    },
    async replace(order) {
      const found = await read(order.accountId, order.orderId)
      if (found?.order.source.version !== order.source.version - 1) return false
      const { address, state } = found
      const replaced = replaceDocument(client, { deadlineMs }, address, state, sourceOf(order))
      return (await replaced) !== null
    },
    async list({ accountId, limit, after }) {
      await refreshIndex(target)
      const response = await searchRaw(target, {
        size: limit,
        query: { bool: { filter: [{ term: { account_id: accountId } }] } },
        sort: [{ made_at: 'desc' }, { order_id: 'desc' }],
        ...(after !== null && { search_after: [after.madeAt, after.orderId] }),
      })
      const hits = completeRawHits(response) as { _id: string; _source: unknown }[]
      return hits.map(({ _id: id, _source: source }) => orderOf(id, source))
    },
  }
}

function sourceOf(order: SandboxOrder): SandboxSource {
  const { accountId, orderId, madeAt } = order
  return { account_id: accountId, order_id: orderId, made_at: madeAt, order }
}
