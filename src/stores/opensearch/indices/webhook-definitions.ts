import { type Definitions, KEYWORD, LONG, smallIndex } from './index-definition.ts'
import type { IndexNames } from './index-names.ts'

/**
 * One document for each webhook endpoint. `endpoint` is stored without parsing, so a new setting of
 * an endpoint needs no new field.
 */
const webhookEndpointsDefinition = smallIndex({
  account_id: KEYWORD,
  created_at: LONG,
  disabled_reason: KEYWORD,
  failing_since: LONG,
  deleted_at: LONG,
  endpoint: { type: 'object', enabled: false },
})

/**
 * One document for each delivery of an event to an endpoint. A document has no routing, so a get by
 * the delivery's id alone is possible on the one shard.
 */
const webhookDeliveriesDefinition = smallIndex({
  delivery_id: KEYWORD,
  endpoint_id: KEYWORD,
  account_id: KEYWORD,
  order_id: KEYWORD,
  sequence: LONG,
  recorded_at: LONG,
  state: KEYWORD,
  next_at: LONG,
  first_failed_at: LONG,
  held_at: LONG,
  excerpt_at: LONG, // The first attempt with an excerpt.
  delivery: { type: 'object', enabled: false },
})

/** The indices of webhook endpoints and deliveries, by alias. */
export function webhookDefinitions(names: IndexNames): Definitions {
  return [
    [names.webhookEndpoints, webhookEndpointsDefinition],
    [names.webhookDeliveries, webhookDeliveriesDefinition],
  ]
}
