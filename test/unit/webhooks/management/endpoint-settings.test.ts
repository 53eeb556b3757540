import { describe, expect, it } from 'vitest'
import { eventTypes } from '../../../../src/webhooks/events/event-types.ts'
import {
  parseDescription,
  parseEvents,
  parsePayload,
  parseSettings,
  parseUrl,
} from '../../../../src/webhooks/management/endpoint-settings.ts'
import type { WebhookErrorCode } from '../../../../src/webhooks/management/webhook-error.ts'
import { parseNetworks } from '../../../../src/webhooks/sending/egress/address-policy.ts'

const invalid = (code: WebhookErrorCode, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) })

describe('parseEvents', () => {
  it('parseEvents returns null for *, so that types added later are included', () => {
    expect(parseEvents(['*'])).toBeNull()
  })

  it('parseEvents returns known types once, in the order of the documentation', () => {
    expect(parseEvents(['order.refunded', 'order.paid', 'order.paid'])).toEqual([
      'order.paid',
      'order.refunded',
    ])
    expect(parseEvents(eventTypes)).toEqual(eventTypes)
  })

  it.each([
    ['order.payed', 'order.paid'],
    ['order_paid', 'order.paid'],
    ['Order.Paid', 'order.paid'],
    ['paid', 'order.paid'],
    ['refund', 'order.refunded'],
    ['order.cancelled', 'order.canceled'],
    ['order.dispute', 'order.disputed'],
    ['payment_declined', 'order.payment_declined'],
    ['order.partial_refunded', 'order.partially_refunded'],
  ])('parseEvents suggests for %s the type %s', (name, nearest) => {
    const message = new RegExp(`"${name}" \\(did you mean ${nearest}\\?\\)`)
    expect(() => parseEvents([name])).toThrow(invalid('invalid_events', message))
  })

  it.each(['invoice.paid', 'webhook.test', 'foo', '', 'order.*'])(
    'parseEvents names the unknown type %j, without a suggestion, and every known one',
    (name) => {
      const message = new RegExp(`${JSON.stringify(name).replaceAll(/[.*]/g, '\\$&')}: expected`)
      expect(() => parseEvents([name])).toThrow(invalid('invalid_events', message))
      expect(() => parseEvents([name])).toThrow(eventTypes.join(', '))
    },
  )

  it('parseEvents names every unknown type once', () => {
    const given = ['order.payed', 'order.paid', 'xyz', 'order.payed']
    const message = /^unknown event type "order\.payed" \(did you mean order\.paid\?\), "xyz": /
    expect(() => parseEvents(given)).toThrow(invalid('invalid_events', message))
  })

  it('parseEvents rejects * beside a type, and no type at all', () => {
    expect(() => parseEvents(['*', 'order.paid'])).toThrow(invalid('invalid_events', /"\*"/))
    expect(() => parseEvents([])).toThrow(invalid('invalid_events', /^no event type is given/))
  })

  it('parseEvents echoes the start of a long name alone', () => {
    const message = new RegExp(`"${'x'.repeat(64)}":`)
    expect(() => parseEvents(['x'.repeat(5_000)])).toThrow(invalid('invalid_events', message))
  })
})

describe('parseDescription', () => {
  it.each([
    ['ERP da loja', 'ERP da loja'],
    ['x'.repeat(500), 'x'.repeat(500)],
    ['', null],
    [null, null],
    ['   ', null],
    [' ERP ', 'ERP'],
  ])('parseDescription accepts %j', (text, description) => {
    expect(parseDescription(text)).toBe(description)
  })

  it.each(['x'.repeat(501), 'two\nlines', '\u001b[2J', 'a\u0085b', '\u0000'])(
    'parseDescription rejects %j',
    (text) => {
      expect(() => parseDescription(text)).toThrow(
        invalid('invalid_description', /expected at most 500 characters in one line/),
      )
    },
  )
})

describe('parseSettings', () => {
  it('parseSettings returns only what is given', () => {
    expect(parseSettings({})).toEqual({})
    expect(parseSettings({ payload: 'thin', description: null })).toEqual({
      payload: 'thin',
      description: null,
    })
  })

  it('parseSettings rejects an unknown payload with the known ones', () => {
    expect(parsePayload('full')).toBe('full')
    expect(() => parsePayload('Full')).toThrow(invalid('invalid_payload', /full, thin/))
  })

  it('parseSettings accepts an internal URL within WEBHOOK_ALLOW alone', () => {
    const url = 'http://127.0.0.1:3100/hooks'
    expect(parseUrl(url, parseNetworks('127.0.0.0/8').networks)).toBe(url)
    expect(() => parseUrl(url, [])).toThrow(invalid('invalid_url', /WEBHOOK_ALLOW/))
  })
})
