import { readAliases } from '../client/aliases.ts'
import type { OpenSearch } from '../client/client.ts'
import { concreteIndex, type IndexNames } from './index-names.ts'

/**
 * The version of the orders index that is read: the first write target where no lease document
 * names one. Any other would become live with the next fence. It is version 1 where the read alias
 * is on an index of another name.
 * @throws Unavailable
 */
export async function readLiveVersion(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<string> {
  const live = Object.keys(await readAliases(client, deadlineMs, [names.orders]))
  return live.find(names.isVersion) ?? concreteIndex(names.orders, 1)
}
