import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { documentId } from '../../../src/stores/opensearch/order-document.ts'
import type { BenchContext } from '../context.ts'
import type { Generator } from '../measuring/generator.ts'
import { loadDocuments } from '../orders/loader.ts'
import { recordSearches } from '../orders/searches.ts'
import { type SearchVariant, searchVariants } from './searches.ts'

const PROBE = { accountId: 'acc_probe', orderId: 'ord_probe' }
/** JSON as no program of ours writes it: whoever parses it and writes it again writes it otherwise. */
const ORDER = String.raw`{ "id" : "ord_probe", "name" : "\u0041na", "rate" : 1.0e2 }`

/**
 * By which searches a source comes back as it was written, byte for byte. In an index of its own, so that
 * those that are measured get no segment more.
 */
export async function probeSources(
  { cluster, openSearch: { urls }, prefix, signal }: BenchContext,
  generator: Generator,
): Promise<Record<string, boolean>> {
  const index = `${prefix}settings-probe`
  await cluster.create(index, ordersDefinition)
  await loadDocuments([bulkLines()].values(), { client: cluster.client, index, signal })
  await cluster.refresh(index)
  const place = { accountId: PROBE.accountId, sort: 'created_at_desc', rowsBefore: 0 } as const
  const places = [{ ...place, after: { key: 2, id: '' }, following: [PROBE.orderId] }]
  const [request] = await recordSearches({ urls, index, places, limit: 1 })
  if (request === undefined) throw new Error('the search for the probe was not recorded')
  const asked = Object.entries(searchVariants).map(
    async ([name, variant]: [string, SearchVariant]) => {
      const answer = await generator.ask(variant.change(request))
      return [name, answer.includes(ORDER)] as const
    },
  )
  return Object.fromEntries(await Promise.all(asked))
}

function bulkLines(): string {
  const { accountId, orderId } = PROBE
  const keys = { account_id: accountId, id: orderId, created_key: 1, updated_key: 1 }
  const action = { index: { _id: documentId(PROBE), routing: accountId } }
  return `${JSON.stringify(action)}\n${JSON.stringify(keys).slice(0, -1)},"order":${ORDER}}\n`
}
