import type { Delivery } from '../../webhooks/deliveries/delivery.ts'
import type { Endpoint } from '../../webhooks/endpoints/endpoint.ts'
import type { EnabledEndpoint } from '../../webhooks/management/endpoint-actions.ts'
import type { CreatedEndpoint } from '../../webhooks/management/endpoint-operations.ts'
import {
  createdEndpointJson,
  deliveryJson,
  enabledEndpointJson,
  endpointJson,
} from '../../webhooks/management/webhook-json.ts'

// The shapes of the commands, with the type of the object.

export const endpointObject = (endpoint: Endpoint) =>
  ({ object: 'webhook_endpoint', ...endpointJson(endpoint) }) as const

export const enabledEndpointObject = (enabled: EnabledEndpoint) =>
  ({ object: 'webhook_endpoint', ...enabledEndpointJson(enabled) }) as const

/** A new endpoint, and its secret, which appears only here. */
export const createdEndpointObject = ({ endpoint, secret }: CreatedEndpoint) =>
  ({ object: 'webhook_endpoint', ...createdEndpointJson(endpoint, secret) }) as const

export const deliveryObject = (delivery: Delivery) =>
  ({ object: 'webhook_delivery', ...deliveryJson(delivery) }) as const
