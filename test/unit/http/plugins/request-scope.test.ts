import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import requestScope from '../../../../src/http/plugins/request-scope.ts'
import { joinOwned, type OwnedBytes } from '../../../../src/lib/owned-bytes.ts'

const owned = (text: string) => joinOwned([Buffer.from(text)])

/** Answers a request with `respond`, and returns the payload. */
async function answer(respond: (own: (bytes: OwnedBytes) => void, release: () => void) => Buffer) {
  const app = fastify()
  app.register(requestScope, { deadlineMs: 60_000 })
  app.get('/', async ({ scope }, reply) => reply.send(respond(scope.own, scope.release)))
  const { payload } = await app.inject('/')
  return payload
}

describe('the scope of a request', () => {
  it('frees the owned bytes when the response is sent, and no earlier', async () => {
    const [page, other] = [owned('the page'), owned('other bytes')]
    const payload = await answer((own) => {
      own(other)
      own(page)
      return page
    })
    expect(payload).toBe('the page')
    expect([page.length, other.length]).toEqual([0, 0])
  })

  it('frees at a release what it owns until then', async () => {
    const [found, page] = [owned('the rows'), owned('the page')]
    const payload = await answer((own, release) => {
      own(found)
      release()
      expect(found).toHaveLength(0)
      own(page)
      return page
    })
    expect(payload).toBe('the page')
    expect(page).toHaveLength(0)
  })
})
