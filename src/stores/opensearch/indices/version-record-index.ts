import { readAliases } from '../client/aliases.ts'
import type { OpenSearch } from '../client/client.ts'
import type { IndexNames } from './index-names.ts'

/**
 * The indices behind the alias of the version records: one, unless it is lost or changed by hand.
 */
export async function readVersionRecordIndices(
  client: OpenSearch,
  { versionRecords }: IndexNames,
  deadlineMs: number,
): Promise<string[]> {
  return Object.keys(await readAliases(client, deadlineMs, [versionRecords]))
}

/** The index of the version records. @throws Error when the alias is not on exactly one */
export async function readVersionRecordIndex(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<string> {
  const [index, ...others] = await readVersionRecordIndices(client, names, deadlineMs)
  if (index !== undefined && others.length === 0) return index
  throw new Error(`the alias ${names.versionRecords} must be on exactly one index`)
}
