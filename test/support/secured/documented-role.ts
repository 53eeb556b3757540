import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Role } from '../../harness/services/security-plugin.ts'

const DOCUMENT = new URL('../../../docker/stores.md', import.meta.url)

/** The name that `docker/stores.md` gives the role and its user. */
export const SERVICE_USER = 'public-orders-api'
/** The `INDEX_PREFIX` of the documented role. */
export const PREFIX = 'shop-'

/** The role of the service as `docker/stores.md` gives it to operators. */
export function documentedRole(): Role {
  const text = readFileSync(DOCUMENT, 'utf8')
  const block = /```yaml\n *public-orders-api:\n[\s\S]*?\n *```/.exec(text)?.[0]
  if (block === undefined) throw new Error(`${DOCUMENT.pathname} has no role ${SERVICE_USER}`)
  const lines = block.split('\n').slice(1, -1)
  const roles: Partial<Record<string, Role>> = parse(lines.join('\n'))
  const role = roles[SERVICE_USER]
  if (role === undefined) throw new Error(`${DOCUMENT.pathname} has no role ${SERVICE_USER}`)
  return role
}
