import type { Role } from '../../harness/services/opensearch/security-plugin.ts'

/** The role without one of its permissions or index patterns. @throws Error when it has none */
export function without(role: Role, entry: string): Role {
  const kept = (entries: readonly string[]) => entries.filter((other) => other !== entry)
  const limited = {
    cluster_permissions: kept(role.cluster_permissions),
    index_permissions: role.index_permissions.map((permission) => ({
      index_patterns: kept(permission.index_patterns),
      allowed_actions: kept(permission.allowed_actions),
    })),
  }
  if (JSON.stringify(limited) === JSON.stringify(role)) throw new Error(`the role lacks ${entry}`)
  return limited
}

/** Whether one of the patterns of a role matches a name; `*` is a wildcard. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern.split('*').map(RegExp.escape).join('.*')
    return new RegExp(`^${source}$`).test(name)
  })
}
