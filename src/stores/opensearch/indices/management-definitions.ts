import { type Definitions, KEYWORD, LONG, NOT_INDEXED, SMALL_INDEX } from './index-definition.ts'
import type { IndexNames } from './index-names.ts'

/** Fields by which the management API searches; the rest is stored without parsing. */
const auditDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: {
      at: LONG,
      id: KEYWORD,
      account_id: KEYWORD,
      outcome: NOT_INDEXED,
      entry: { type: 'object', enabled: false },
    },
  },
} as const

const usageDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: {
      account_id: KEYWORD,
      day: KEYWORD,
      key_id: KEYWORD,
      last_used_at: LONG,
      counters: { type: 'object', enabled: false },
    },
  },
} as const

const sessionsDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: {
      account_id: KEYWORD,
      expires_at: LONG,
      session: { type: 'object', enabled: false },
    },
  },
} as const

const idempotentRequestsDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: { created_at: LONG, request: { type: 'object', enabled: false } },
  },
} as const

const sandboxOrdersDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: {
      account_id: KEYWORD,
      order_id: KEYWORD,
      made_at: LONG,
      is_erased: { type: 'boolean' },
      order: { type: 'object', enabled: false },
    },
  },
} as const

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
