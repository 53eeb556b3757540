import { expect, it } from 'vitest'
import { CreateEndpoint } from '../../../../src/http/management/webhook-bodies.ts'

it('a body is read up to its first error', () => {
  // To name each of thousands of invalid elements would occupy the process for half a second.
  const events: unknown[] = [0]
  Object.defineProperty(events, 1, {
    enumerable: true,
    get() {
      throw new Error('the second element is read')
    },
  })
  const parse = () => CreateEndpoint.parse({ url: 'https://receiver.example/hooks', events })
  expect(parse).toThrow('Envie em events só tipos que existem')
})
