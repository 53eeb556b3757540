import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createGenerator,
  type Generator,
  type LoadRequest,
} from '../../../scripts/bench/measuring/generator.ts'

const BODY = 'x'.repeat(100)
const refused: LoadRequest = {
  method: 'GET',
  path: '/',
  headers: {},
  expectedStatus: 401,
  expectedBytes: BODY.length,
}
const { signal } = new AbortController()
const server = createServer((_request, response) => response.writeHead(401).end(BODY))
let generator: Generator

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  generator = createGenerator({ origins: [`http://127.0.0.1:${port}`] }, 2)
})

afterAll(async () => {
  await generator.close()
  server.close()
})

describe('the generator', () => {
  it('takes a refusal that was expected for an answer', async () => {
    expect(await generator.ask(refused)).toEqual(Buffer.from(BODY))
    const { answers, failures } = await generator.run([refused], 20, signal)
    expect(answers).toBeGreaterThan(0)
    expect(failures).toEqual({})
  })

  it('expects 200 where nothing else is said', async () => {
    const { expectedStatus: _, ...request } = refused
    await expect(generator.ask(request)).rejects.toThrow('/ was answered with 401')
    const { answers, failures } = await generator.run([request], 20, signal)
    expect(failures).toEqual({ 'status 401': answers })
  })

  it('counts an answer of another length', async () => {
    const longer = { ...refused, expectedBytes: 2 * BODY.length }
    const { answers, failures } = await generator.run([longer], 20, signal)
    expect(failures).toEqual({ 'not the answer that was expected': answers })
  })
})
