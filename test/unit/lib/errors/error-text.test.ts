import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { errorText } from '../../../../src/lib/errors/error-text.ts'
import { redactCommand } from '../../../../src/stores/redis/client.ts'

/** The error of a connection to a host with two addresses, which both refuse. */
async function refusal(): Promise<Error> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]
  const socket = connect({
    host: 'two',
    port,
    lookup: (_host, _all, found) => found(null, addresses),
  })
  const [error] = await once(socket, 'error').catch((error) => [error])
  return error
}

it('the text of an error is its message, else its code, else the value', () => {
  expect(errorText(new Error('no space left'))).toBe('no space left')
  expect(errorText(Object.assign(new Error(''), { code: 'ECONNRESET' }))).toBe('ECONNRESET')
  expect(errorText('odd')).toBe('odd')
  expect(errorText(undefined)).toBe('undefined')
})

it('the text of an error names why all addresses of a host refused, also for Redis', async () => {
  const error = await refusal()
  expect(error.message).toBe('')
  expect(errorText(error)).toBe('ECONNREFUSED')
  expect(redactCommand(error).message).toBe('ECONNREFUSED')
})
