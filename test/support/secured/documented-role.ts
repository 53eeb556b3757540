import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Role } from '../../harness/services/opensearch/security-plugin.ts'

/** The name that `docker/stores.md` gives the role and its user. */
export const SERVICE_USER = 'public-orders-api'
/** The user of `docker/recovery.md` that takes and restores snapshots. */
export const SNAPSHOT_USER = 'order-snapshots'
/** The `INDEX_PREFIX` of the documented roles. */
export const PREFIX = 'shop-'

const DOCUMENTS = { [SERVICE_USER]: 'stores.md', [SNAPSHOT_USER]: 'recovery.md' }

/** A role as the documents for operators give it. */
export function documentedRole(name: keyof typeof DOCUMENTS = SERVICE_USER): Role {
  const document = new URL(`../../../docker/${DOCUMENTS[name]}`, import.meta.url)
  const blocks = readFileSync(document, 'utf8').matchAll(/^ *```yaml\n([\s\S]*?)\n *```$/gm)
  for (const [, yaml = ''] of blocks) {
    const { [name]: role }: Partial<Record<string, Role>> = parse(yaml)
    if (role !== undefined) return role
  }
  throw new Error(`${document.pathname} has no role ${name}`)
}
