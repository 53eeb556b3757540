import type { Network } from '../../lib/network.ts'
import { nearestName } from '../../lib/text/nearest-name.ts'
import { isOneLine } from '../../lib/text/one-line.ts'
import { type Endpoint, type PayloadKind, payloadKinds } from '../endpoints/endpoint.ts'
import { type EventType, eventTypes } from '../events/event-types.ts'
import { checkTargetUrl } from '../sending/egress/target-url.ts'
import { WebhookError } from './webhook-error.ts'

/** The parts of an endpoint that its account chooses, as received. */
export interface EndpointSettings {
  url: string
  /** Event types, or `*` alone for every type. */
  events: readonly string[]
  payload: string
  /** Outer spaces are removed; a blank text is none. */
  description: string | null
}

/** The same, validated. */
export type ValidSettings = Pick<Endpoint, 'url' | 'events' | 'payload' | 'description'>

export const ALL_EVENTS = '*'
export const MAX_DESCRIPTION_LENGTH = 500
/**
 * Of an account, and of its sandbox. Every change of an order is sent to each endpoint, and the
 * owner of an account chooses the URLs in a session.
 */
export const MAX_OWN_ENDPOINTS = 50
/** Maximum echoed length of an unknown event type. */
const MAX_ECHOED_LENGTH = 64
const ORDER_PREFIX = 'order.'
const suffixes = eventTypes.map((type) => type.slice(ORDER_PREFIX.length))

/**
 * Validates the settings that are given, beside the URL.
 * @throws WebhookError `invalid_…` for the first one that is not valid
 */
export function parseSettings(
  given: Partial<Omit<EndpointSettings, 'url'>>,
): Partial<Omit<ValidSettings, 'url'>> {
  const { events, payload, description } = given
  return {
    ...(events !== undefined && { events: parseEvents(events) }),
    ...(payload !== undefined && { payload: parsePayload(payload) }),
    ...(description !== undefined && { description: parseDescription(description) }),
  }
}

/** @throws WebhookError `invalid_url` */
export function parseUrl(text: string, allow: readonly Network[]): string {
  const result = checkTargetUrl(text, allow)
  if ('problem' in result) throw new WebhookError('invalid_url', result.problem)
  return result.url
}

/** @throws WebhookError `invalid_events` with every unknown type and the nearest known one */
export function parseEvents(names: readonly string[]): readonly EventType[] | null {
  if (names.length === 1 && names[0] === ALL_EVENTS) return null
  const unknown = names.filter((name) => !eventTypes.some((type) => type === name))
  if (names.length > 0 && unknown.length === 0) {
    return eventTypes.filter((type) => names.includes(type))
  }
  const problem =
    names.length === 0
      ? 'no event type is given'
      : `unknown event type ${[...new Set(unknown)].map(describeUnknown).join(', ')}`
  const known = `${ALL_EVENTS} alone for all, or some of ${eventTypes.join(', ')}`
  throw new WebhookError('invalid_events', `${problem}: expected ${known}`)
}

function describeUnknown(name: string): string {
  const echoed = name.slice(0, MAX_ECHOED_LENGTH).toWellFormed()
  const nearest = nearestEventType(echoed)
  return `${JSON.stringify(echoed)}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}`
}

/** Also finds a type by its name without `order.`. */
function nearestEventType(name: string): string | undefined {
  const suffix = nearestName(name, suffixes)
  return nearestName(name, eventTypes) ?? (suffix && `${ORDER_PREFIX}${suffix}`)
}

/** @throws WebhookError `invalid_payload` */
export function parsePayload(text: string): PayloadKind {
  const kind = payloadKinds.find((known) => known === text)
  if (kind !== undefined) return kind
  throw new WebhookError(
    'invalid_payload',
    `the payload is not known: expected one of ${payloadKinds.join(', ')}`,
  )
}

/** @throws WebhookError `invalid_description` */
export function parseDescription(text: string | null): string | null {
  if (text === null) return null
  // In a list of endpoints, control characters could rewrite the operator's terminal.
  if (isOneLine(text, { maxLength: MAX_DESCRIPTION_LENGTH })) return text.trim() || null
  throw new WebhookError(
    'invalid_description',
    `the description is not valid: expected at most ${MAX_DESCRIPTION_LENGTH} characters in one line`,
  )
}
