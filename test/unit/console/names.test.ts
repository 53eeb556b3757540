import { expect, it } from 'vitest'
import { eventTypes } from '../../../src/webhooks/events/event-types.ts'

const file = new URL('../../../src/console/ui/names.js', import.meta.url)
const { EVENT_NAMES }: { EVENT_NAMES: object } = await import(file.href)

it('the console names every event type that an endpoint can choose, in their order', () => {
  expect(Object.keys(EVENT_NAMES)).toEqual(eventTypes)
})
