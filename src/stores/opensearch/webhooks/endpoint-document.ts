import type { Endpoint } from '../../../webhooks/endpoints/endpoint.ts'

/** A stored endpoint: the fields that searches use, and the endpoint as one unparsed object. */
interface EndpointSource {
  account_id: string
  created_at: number
  disabled_reason: Endpoint['disabledReason']
  failing_since: number | null
  deleted_at: number | null
  endpoint: Endpoint
}

/** The document of an endpoint; its id is that of the endpoint. */
export function endpointSource(endpoint: Endpoint): EndpointSource {
  return {
    account_id: endpoint.accountId,
    created_at: endpoint.createdAt,
    disabled_reason: endpoint.disabledReason,
    failing_since: endpoint.failingSince,
    deleted_at: endpoint.deletedAt,
    endpoint,
  }
}

/** The endpoint of a document; `null` when it is damaged. */
export function parseEndpoint(source: unknown): Endpoint | null {
  const { endpoint } = Object(source) as Partial<EndpointSource>
  return isEndpoint(endpoint) ? endpoint : null
}

function isEndpoint(value: unknown): value is Endpoint {
  const { id, accountId, url, events, startsAt, createdAt, secret, deletedAt } = Object(
    value,
  ) as Partial<Endpoint>
  const { kid, generation } = Object(secret) as Partial<Endpoint['secret']>
  return (
    [id, accountId, url, kid].every((text) => typeof text === 'string') &&
    [startsAt, createdAt, generation].every(Number.isFinite) &&
    (events === null || Array.isArray(events)) &&
    (deletedAt === null || typeof deletedAt === 'number')
  )
}
