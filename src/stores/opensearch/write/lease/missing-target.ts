import type { MissingTarget } from '../../../../indexing/consistency-check/index-inspection.ts'
import { indexVersion } from '../../indices/index-names.ts'

/** The targets without an index. Of each list, the first index is read. */
export function missingTargets(
  lists: readonly (readonly string[])[],
  existing: readonly string[],
): MissingTarget[] {
  return lists.flatMap((list) =>
    list
      .filter((name) => !existing.includes(name))
      .map((name) => ({ name, remedy: remedyOf(name, list) })),
  )
}

/** A reindex created the later of two versions. Before its switch, only the earlier is complete. */
function remedyOf(missing: string, [read = '', other = read]: readonly string[]): string {
  const isSwitched = indexVersion(other) < indexVersion(read)
  if (missing === other && isSwitched) return '"index reindex --finish" removes it from the lease'
  if (read !== other && (missing === other || isSwitched))
    return '"index reindex --rollback" removes it from the lease'
  return 'docker/recovery.md, "A lost index"'
}
