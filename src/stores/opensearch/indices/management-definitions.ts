import { type Definitions, KEYWORD, LONG, NOT_INDEXED, smallIndex } from './index-definition.ts'
import type { IndexNames } from './index-names.ts'

/** Fields by which the management API searches; the rest is stored without parsing. */
const auditDefinition = smallIndex({
  at: LONG,
  id: KEYWORD,
  account_id: KEYWORD,
  outcome: NOT_INDEXED,
  entry: { type: 'object', enabled: false },
})

const usageDefinition = smallIndex({
  account_id: KEYWORD,
  day: KEYWORD,
  key_id: KEYWORD,
  last_used_at: LONG,
  counters: { type: 'object', enabled: false },
})

const sessionsDefinition = smallIndex({
  account_id: KEYWORD,
  expires_at: LONG,
  session: { type: 'object', enabled: false },
})

const idempotentRequestsDefinition = smallIndex({
  created_at: LONG,
  request: { type: 'object', enabled: false },
})

const sandboxOrdersDefinition = smallIndex({
  account_id: KEYWORD,
  order_id: KEYWORD,
  made_at: LONG,
  is_erased: { type: 'boolean' },
  order: { type: 'object', enabled: false },
})

/** The indices of the management API, by alias. */
export function managementDefinitions(names: IndexNames): Definitions {
  return [
    [names.audit, auditDefinition],
    [names.usage, usageDefinition],
    [names.sessions, sessionsDefinition],
    [names.idempotentRequests, idempotentRequestsDefinition],
    [names.sandboxOrders, sandboxOrdersDefinition],
  ]
}
