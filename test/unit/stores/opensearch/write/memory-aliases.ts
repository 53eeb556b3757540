import { toResponseError } from '../../../../../src/stores/opensearch/client/client.ts'
import { NOT_FOUND } from '../../../../../src/stores/opensearch/client/errors.ts'

export interface AliasAction {
  remove?: { index: string; alias: string; must_exist?: boolean }
  add?: { index: string; alias: string }
}

/** The aliases of a cluster, each on one index. */
export function createMemoryAliases() {
  let aliases = new Map([
    ['orders', 'orders-v1'],
    ['order-heads', 'order-heads-v1'],
  ])

  return {
    get: (alias: string) => aliases.get(alias),
    names: () => new Set(aliases.keys()),

    /** Those that match, by index. */
    byIndex(patterns: readonly string[]) {
      const found: AliasesByIndex = {}
      for (const [alias, index] of aliases) {
        if (!matchesAny(alias, patterns)) continue
        found[index] ??= { aliases: {} }
        found[index].aliases[alias] = {}
      }
      return found
    },

    /** Applies all actions or none. Returns whether a write alias is new. */
    change(actions: readonly AliasAction[]): boolean {
      const next = new Map(aliases)
      for (const { remove, add } of actions) {
        if (remove && next.get(remove.alias) === remove.index) next.delete(remove.alias)
        else if (remove?.must_exist) {
          throw toResponseError(NOT_FOUND, { error: { type: 'aliases_not_found_exception' } })
        }
        if (add) next.set(add.alias, add.index)
      }
      const added = [...next.keys()].filter((alias) => !aliases.has(alias))
      aliases = next
      return added.some((alias) => alias.includes('-w-'))
    },

    removeIndex(index: string): void {
      aliases = new Map([...aliases].filter(([, other]) => other !== index))
    },
  }
}

export type AliasesByIndex = Record<string, { aliases: Record<string, object> }>

/** Whether a name is one of these, or matches a pattern. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}
