import { toResponseError } from '../../../../../src/stores/opensearch/client/client.ts'
import { NOT_FOUND } from '../../../../../src/stores/opensearch/client/errors.ts'

export type IndexName = 'orders-v1' | 'order-heads-v1' | 'order-events-v1'

export interface AliasAction {
  remove?: { alias: string; must_exist?: boolean }
  add?: { alias: string; index: IndexName }
}

/** The aliases of a cluster, each on one index. */
export function createMemoryAliases() {
  let aliases = new Map<string, IndexName>([
    ['orders', 'orders-v1'],
    ['order-heads', 'order-heads-v1'],
  ])

  return {
    get: (alias: string) => aliases.get(alias),
    names: () => new Set(aliases.keys()),

    byIndex(patterns: readonly string[]) {
      const found: Record<string, { aliases: Record<string, object> }> = {}
      for (const [alias, index] of aliases) {
        if (!patterns.some((pattern) => matches(alias, pattern))) continue
        found[index] ??= { aliases: {} }
        found[index].aliases[alias] = {}
      }
      return found
    },

    /** Applies all actions or none. Returns whether a write alias is new. */
    change(actions: readonly AliasAction[]): boolean {
      const next = new Map(aliases)
      for (const { remove, add } of actions) {
        if (remove && !next.delete(remove.alias) && remove.must_exist) {
          throw toResponseError(NOT_FOUND, { error: { type: 'aliases_not_found_exception' } })
        }
        if (add) next.set(add.alias, add.index)
      }
      const added = [...next.keys()].filter((alias) => !aliases.has(alias))
      aliases = next
      return added.some((alias) => alias.includes('-w-'))
    },
  }
}

function matches(alias: string, pattern: string): boolean {
  return pattern.endsWith('*') ? alias.startsWith(pattern.slice(0, -1)) : alias === pattern
}
