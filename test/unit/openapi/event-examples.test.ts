import { expect, it } from 'vitest'
import { boletoOrder, pixOrder, splitOrder } from '../../../src/openapi/examples/source-orders.ts'
import { eventExamples } from '../../../src/openapi/webhooks/event-examples.ts'

it('a type without an example is named, with the file to extend', () => {
  expect(() => eventExamples([pixOrder, boletoOrder, splitOrder])).toThrow(
    /^no example of order\.trial_started, order\.payment_declined, order\.payment_received: add .+ src\/openapi\/examples\/source-orders\.ts;/,
  )
})
