import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCursorCodec } from '../../src/orders/cursor.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import { type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'
import { listUrls } from './list-urls.ts'

const URLS = 10_000
const AT_ONCE = 100

let store: ServedStore
let edge: ProxyUnderTest
let authorization: string
beforeAll(async () => {
  store = openServedStore()
  const [service, key] = await Promise.all([store.serve(), store.createKey('acc_1')])
  authorization = `Bearer ${key}`
  edge = await startProxy([service])
})
afterAll(async () => {
  await edge.stop()
  await store.close()
})

const list = (path: string, headers = {}) =>
  edge.call(path, { headers: { authorization, ...headers } })

describe('a legitimate request', () => {
  it('the edge accepts every listing, however the client escapes it', async () => {
    const codec = createCursorCodec([store.cursorSecret])
    const urls = fc.sample(listUrls('acc_1', codec), URLS)
    const others: unknown[] = []
    for (let start = 0; start < urls.length; start += AT_ONCE) {
      await Promise.all(
        urls.slice(start, start + AT_ONCE).map(async (url) => {
          const { status, body } = await list(url)
          if (status !== 200) others.push({ url, status, body })
        }),
      )
    }
    expect(urls).toHaveLength(URLS)
    expect(others.slice(0, 3)).toEqual([])
  }, 300_000)

  it('the edge accepts a cursor that contains the marker of a serialised Java object', async () => {
    // The bytes of the instant equal the marker; a kid of three letters aligns them in base64.
    const position = { key: 0xaced_0005_0000, id: 'ord_1' }
    const state = { after: position, dated: null, mark: null, nextMark: null }
    const filters = noFilters
    const listing = { accountId: 'acc_1', sort: 'created_at_desc', filters } as const
    const cursor = createCursorCodec([store.cursorSecret]).seal(listing, state)
    expect(cursor).toContain('rO0AB')
    expect((await list(`/v1/orders?cursor=${cursor}`)).status).toBe(200)
  })

  it('the edge forwards an unfilled template, and the service names the parameter', async () => {
    for (const name of ['limit', 'cursor', 'status', 'created_gte']) {
      for (const value of [
        '$' + '{x}',
        '$' + '{x:-20}',
        '{{x}}',
        '%24%7Bx%7D',
        '%2524%257Bx%257D',
      ]) {
        const { status, body } = await list(`/v1/orders?${name}=${value}`)
        expect(status).toBe(400)
        expect(JSON.parse(body).error.param).toBe(name)
      }
    }
  })

  it('the edge accepts an id of any form', async () => {
    for (const id of [
      'ord_..',
      'ord_a..b',
      'ord_rO0AB',
      '..ord_1',
      'ord_.git',
      '...',
      'git',
      'ord_%2525',
    ]) {
      const answer = await list(`/v1/orders/${id}`)
      expect(answer.status, id).toBe(404)
      expect(answer.headers).toHaveProperty('request-id')
    }
  })

  const fixture = new URL('../fixtures/proxy/user-agents.txt', import.meta.url)
  it.each(readFileSync(fixture, 'utf8').trimEnd().split('\n'))(
    'the edge accepts a request of the user agent %s',
    async (userAgent) => {
      expect((await list('/v1/orders', { 'user-agent': userAgent })).status).toBe(200)
    },
  )

  it.each([
    ['accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
    ['cookie', '_ga=GA1.2.1; session=s%3Aab..cd.ef%2Bgh%3D; path=/../x'],
    ['referer', 'https://painel.exemplo.com.br/../relatorios?x=$%7Bfiltro%7D'],
    ['if-none-match', 'W/"5-aced0005"'],
    ['traceparent', '00-aced0005aced0005aced0005aced0005-aced0005aced0005-01'],
    ['x-signature', 'MEUCIQD/rO1ABxrO0/ABrO0AB'],
  ])('the edge accepts a request with the header %s: %s', async (name, value) => {
    expect((await list('/v1/orders', { [name]: value })).status).toBe(200)
  })
})
