import { opensearch } from '../../../support/stores/backend.ts'
import type { EachTestServices } from '../../../support/stores/use-services.ts'

/** What the tests read of a stored order. */
interface StoredOrder {
  written_key: number
  order: { amount_total: number }
}

/** The stored documents of an index by id. */
export async function readDocuments(
  test: EachTestServices,
  index: string,
): Promise<Map<string, StoredOrder>> {
  await test.refresh()
  const { hits } = await opensearch<{ hits: { hits: { _id: string; _source: StoredOrder }[] } }>(
    'GET',
    `${test.prefix}${index}/_search?size=5000&q=_exists_:id`,
  )
  return new Map(hits.hits.map(({ _id, _source }) => [_id, _source]))
}

/** The write targets of the lease. */
export async function readTargets({ prefix }: EachTestServices): Promise<string[]> {
  const { _source } = await opensearch<{ _source: { targets: string[] } }>(
    'GET',
    `${prefix}writer/_doc/orders`,
  )
  return _source.targets
}
