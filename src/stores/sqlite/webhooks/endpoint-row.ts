import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Endpoint } from '../../../webhooks/endpoints/endpoint.ts'

export type EndpointRow = Record<string, SQLOutputValue>

/** The named parameters of a statement that stores an endpoint. */
export function endpointParams(endpoint: Endpoint): Record<string, SQLInputValue> {
  return {
    id: endpoint.id,
    accountId: endpoint.accountId,
    url: endpoint.url,
    events: toNullableJson(endpoint.events),
    payload: endpoint.payload,
    description: endpoint.description,
    disabledReason: endpoint.disabledReason,
    createdAt: endpoint.createdAt,
    startsAt: endpoint.startsAt,
    secret: JSON.stringify(endpoint.secret),
    previousSecret: toNullableJson(endpoint.previousSecret),
    failingSince: endpoint.failingSince,
    lastSuccessAt: endpoint.lastSuccessAt,
    isBreakerOpen: Number(endpoint.isBreakerOpen),
    noticesSent: endpoint.noticesSent,
    deletedAt: endpoint.deletedAt,
  }
}

/** Converts a row of `endpoints`. */
export function endpointOf(row: EndpointRow): Endpoint {
  return {
    id: row['id'] as string,
    accountId: row['account_id'] as string,
    url: row['url'] as string,
    events: fromNullableJson<Endpoint['events']>(row['events']),
    payload: row['payload'] as Endpoint['payload'],
    description: row['description'] as string | null,
    disabledReason: row['disabled_reason'] as Endpoint['disabledReason'],
    createdAt: row['created_at'] as number,
    startsAt: row['starts_at'] as number,
    secret: JSON.parse(row['secret'] as string),
    previousSecret: fromNullableJson<Endpoint['previousSecret']>(row['previous_secret']),
    failingSince: row['failing_since'] as number | null,
    lastSuccessAt: row['last_success_at'] as number | null,
    isBreakerOpen: row['is_breaker_open'] === 1,
    noticesSent: row['notices_sent'] as number,
    deletedAt: row['deleted_at'] as number | null,
  }
}

const toNullableJson = (value: object | null) => (value === null ? null : JSON.stringify(value))

function fromNullableJson<T>(text: SQLOutputValue | undefined): T | null {
  return typeof text === 'string' ? JSON.parse(text) : null
}
