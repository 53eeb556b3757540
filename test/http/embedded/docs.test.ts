import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

const get = (url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  app.app.inject({ url, headers })
const committed = (path: string) =>
  readFileSync(new URL(`../../../openapi/${path}`, import.meta.url), 'utf8')

const served = [
  ['/openapi.json', 'openapi.json', 'application/json; charset=utf-8'],
  ['/docs.md', 'docs.md', 'text/markdown; charset=utf-8'],
  ['/llms.txt', 'llms.txt', 'text/plain; charset=utf-8'],
  ['/docs/changes.atom', 'changes.atom', 'application/atom+xml; charset=utf-8'],
  ['/docs', 'docs.html', 'text/html; charset=utf-8'],
  ['/docs/start.js', 'page/start.js', 'text/javascript; charset=utf-8'],
  ['/docs/page.css', 'page/page.css', 'text/css; charset=utf-8'],
  ['/docs/recipes/python/pedidos.py', 'recipes/python/pedidos.py', 'text/plain; charset=utf-8'],
] as const

describe.each(served)('GET %s', (url, file, type) => {
  it('returns the committed file without a key', async () => {
    const { statusCode, headers, body } = await get(`${url}?x=1`)
    expect([statusCode, headers['content-type']]).toEqual([200, type])
    expect(body).toBe(committed(file))
  })

  it('requires revalidation, and sends the body again only after a change', async () => {
    const { headers } = await get(url)
    expect(headers['cache-control']).toBe('no-cache')
    const again = await get(url, { 'if-none-match': String(headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const other = await get(url, { 'if-none-match': '"another"' })
    expect(other.statusCode).toBe(200)
  })

  it.each(['gzip', 'br, gzip;q=0.5', 'GZIP', '*'])(
    'is compressed for a client that accepts %s, with an ETag of its own',
    async (accepted) => {
      const plain = await get(url)
      const headers = { 'accept-encoding': accepted }
      const compressed = await get(url, headers)
      expect(compressed.headers).toMatchObject({
        'content-encoding': 'gzip',
        vary: 'Accept-Encoding',
        'content-length': String(compressed.rawPayload.length),
      })
      expect(gunzipSync(compressed.rawPayload).toString()).toBe(committed(file))
      const { etag = '' } = compressed.headers
      expect(etag).not.toBe(plain.headers.etag)
      const again = await get(url, { ...headers, 'if-none-match': etag })
      expect([again.statusCode, again.body, again.headers.vary]).toEqual([
        ...[304, '', 'Accept-Encoding'],
      ])
    },
  )

  it.each([undefined, 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000, *', '*;q=0', ''])(
    'is plain for a client that accepts %s',
    async (accepted) => {
      const headers: Record<string, string> =
        accepted === undefined ? {} : { 'accept-encoding': accepted }
      const answer = await get(url, headers)
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(answer.headers.vary).toBe('Accept-Encoding')
      expect(answer.body).toBe(committed(file))
    },
  )

  it('has the same headers and no body for HEAD', async () => {
    const request = { url, headers: { 'accept-encoding': 'gzip' } }
    const whole = await app.app.inject(request)
    const head = await app.app.inject({ ...request, method: 'HEAD' })
    const names = ['etag', 'content-encoding', 'content-length', 'content-type', 'vary']
    for (const name of names) expect(head.headers[name]).toBe(whole.headers[name])
    expect(head.body).toBe('')
  })

  it('forbids content sniffing', async () => {
    const { headers } = await get(url)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
  })
})

describe('GET /docs', () => {
  const policyOf = ({ headers }: LightMyRequestResponse) =>
    new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => {
          const [name = '', ...sources] = directive.split(' ')
          return [name, sources.join(' ')]
        }),
    )

  it('is a page in Portuguese that links to the Markdown and to the feed', async () => {
    const { body } = await get('/docs')
    expect(body).toContain('<html lang="pt-BR">')
    expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(body).toMatch(/<link rel="alternate" href="\/docs\.md" type="text\/markdown"/)
    expect(body).toMatch(
      /<link rel="alternate" href="\/docs\/changes\.atom" type="application\/atom/,
    )
  })

  it('allows scripts and styles of this service only, and none from a text', async () => {
    const policy = policyOf(await get('/docs'))
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self'")
    expect(policy.get('style-src')).toBe("'self'")
    expect(policy.get('connect-src')).toBe("'self'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
  })

  it('references only files that exist', async () => {
    const { body } = await get('/docs')
    const paths = [...body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths) expect([path, (await get(path)).statusCode]).toEqual([path, 200])
  })
})

describe.each(['/', '/docs/'])('GET %s', (url) => {
  it.each(['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'Text/HTML; q=0.1'])(
    'leads a browser that accepts %s to the docs',
    async (accept) => {
      const { statusCode, headers } = await get(url, { accept })
      expect([statusCode, headers.location, headers.vary]).toEqual([302, '/docs', 'Accept'])
    },
  )

  it.each([undefined, '*/*', 'application/json', 'text/html;q=0, */*', 'text/htmlx'])(
    'returns the common 404 to a program that accepts %s',
    async (accept) => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept }
      const { statusCode, json, headers: answered } = await get(url, headers)
      expect([statusCode, json().error.code]).toEqual([404, 'resource_missing'])
      expect(answered.vary).toBe('Accept')
    },
  )
})

it('GET /favicon.ico returns an icon', async () => {
  const { statusCode, headers, rawPayload } = await get('/favicon.ico')
  expect([statusCode, headers['content-type']]).toEqual([200, 'image/x-icon'])
  expect([...rawPayload.subarray(0, 4)]).toEqual([0, 0, 1, 0])
})

it('every link of the README of the recipes is served', async () => {
  const url = '/docs/recipes/README.md'
  const { body } = await get(url)
  const links = [...body.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link)
  const paths = links.map((link) => new URL(link, `http://api.test${url}`))
  const own = paths.filter(({ host }) => host === 'api.test').map(({ pathname }) => pathname)
  const answers = await Promise.all(own.map(async (path) => [path, (await get(path)).statusCode]))
  expect(own.length).toBeGreaterThan(3)
  expect(answers.filter(([, status]) => status !== 200)).toEqual([])
})

it.each([
  '/docs/nope.js',
  '/docs/changes.json',
  '/docs/docs.html',
  '/docs/recipes/',
  '/docs/recipes/python/pedidos.db',
  '/docs/recipes/../changes.json',
  '/docs/..%2Fopenapi.json',
  '/docs/page/start.js',
  '/docs.html',
])('GET %s returns the common 404', async (url) => {
  expect(await app.error(url)).toMatchObject({ status: 404, code: 'resource_missing' })
})
