import { type OpenSearch, read } from './client/client.ts'
import type { IndexNames } from './index-names.ts'

/** The indices behind the alias of the version records; more than one after a change by hand. */
export async function readVersionRecordIndices(
  client: OpenSearch,
  { versionRecords }: IndexNames,
  deadlineMs: number,
): Promise<string[]> {
  const aliases = await read(deadlineMs, (call) =>
    client.indices.getAlias({ name: [versionRecords] }, call),
  )
  return Object.keys(aliases)
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
