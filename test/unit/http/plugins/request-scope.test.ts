import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import requestScope from '../../../../src/http/plugins/request-scope.ts'
import { freeOwned, joinOwned } from '../../../../src/lib/owned-bytes.ts'
import type { RequestScope } from '../../../../src/lib/request-scope.ts'

const owned = (text: string) => joinOwned([Buffer.from(text)])

/** Responds to a request with `respond`, and returns the payload. */
async function answer(respond: (scope: RequestScope) => Buffer) {
  const app = fastify()
  app.register(requestScope, { deadlineMs: 60_000 })
  app.get('/', async ({ scope }, reply) => reply.send(respond(scope)))
  const { payload } = await app.inject('/')
  return payload
}

describe('the scope of a request', () => {
  it('frees its memory when the response is sent, and no earlier', async () => {
    const [page, other] = [owned('the page'), owned('other bytes')]
    const payload = await answer(({ onRelease }) => {
      for (const bytes of [other, page]) onRelease(() => freeOwned(bytes))
      return page
    })
    expect(payload).toBe('the page')
    expect([page.length, other.length]).toEqual([0, 0])
  })

  it('frees at a release what it has until then, once', async () => {
    const freed: string[] = []
    await answer(({ onRelease, release }) => {
      onRelease(() => freed.push('the rows'))
      release()
      expect(freed).toEqual(['the rows'])
      onRelease(() => freed.push('the page'))
      return owned('the page')
    })
    expect(freed).toEqual(['the rows', 'the page'])
  })
})
