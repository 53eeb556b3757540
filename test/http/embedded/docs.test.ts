import { hash } from 'node:crypto'
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
  ['/docs/start.js', 'page/start.js', 'text/javascript; charset=utf-8'],
  ['/docs/page.css', 'page/page.css', 'text/css; charset=utf-8'],
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

  it('returns a page in Portuguese that links to the Markdown and to the feed', async () => {
    const { statusCode, headers, body } = await get('/docs')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(body).toContain('<html lang="pt-BR">')
    expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(body).toMatch(/<link rel="alternate" href="\/docs\.md" type="text\/markdown"/)
    expect(body).toMatch(
      /<link rel="alternate" href="\/docs\/changes\.atom" type="application\/atom/,
    )
  })

  it('allows scripts of this service only, and none from a text', async () => {
    const policy = policyOf(await get('/docs'))
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self'")
    expect(policy.get('connect-src')).toBe("'self'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
  })

  it('allows styles by a nonce that is new in each response and matches the page', async () => {
    const pages = [await get('/docs'), await get('/docs')]
    const nonces = pages.map((page) => {
      const nonce = /'nonce-([\w-]{22})'/.exec(policyOf(page).get('style-src') ?? '')?.[1]
      expect(page.body).toContain(`content="${nonce}"`)
      return nonce
    })
    expect(new Set(nonces).size).toBe(2)
    expect(pages[0]?.headers['cache-control']).toBe('no-store')
  })

  it('GET /docs has neither inline scripts nor inline styles', async () => {
    const { body } = await get('/docs')
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|https?:\/\//)
  })

  it('references only files that exist', async () => {
    const { body } = await get('/docs')
    const paths = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths) expect([path, (await get(path)).statusCode]).toEqual([path, 200])
  })
})

describe('the script of the API reference', () => {
  const scriptOf = async () =>
    /\/docs\/scalar-[\w-]+\.js/.exec((await get('/docs')).body)?.[0] ?? ''

  it('the script of the API reference is cacheable forever, because its name changes with its content', async () => {
    const { headers } = await get(await scriptOf())
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  })

  it.each([undefined, 'gzip', 'br, gzip;q=0.5', 'GZIP', '*'])(
    'the script of the API reference is sent compressed to a client that accepts %s',
    async (accepted) => {
      const { statusCode, headers, rawPayload } = await get(
        await scriptOf(),
        accepted === undefined ? {} : { 'accept-encoding': accepted },
      )
      expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([
        200,
        'gzip',
        'Accept-Encoding',
      ])
      expect(headers['content-length']).toBe(String(rawPayload.length))
      const script = gunzipSync(rawPayload)
      expect(script.length).toBeGreaterThan(3 * rawPayload.length)
      expect(await scriptOf()).toContain(hash('sha256', script, 'base64url').slice(0, 16))
    },
  )

  it.each(['identity', 'br', 'gzip;q=0', 'gzip; q=0.000, *', '*;q=0', ''])(
    'the script of the API reference is never sent plain: a client that accepts only %j gets a 400 that names the header to send',
    async (accepted) => {
      const { statusCode, headers, body } = await get(await scriptOf(), {
        'accept-encoding': accepted,
      })
      expect(statusCode).toBe(400)
      expect(JSON.parse(body).error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('Accept-Encoding: gzip'),
      })
      expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'cache-control': 'no-store' })
    },
  )

  it('the script of the API reference has the same headers and no body for HEAD', async () => {
    const { statusCode, headers, body } = await app.app.inject({
      method: 'HEAD',
      url: await scriptOf(),
    })
    expect([statusCode, headers['content-encoding'], body]).toEqual([200, 'gzip', ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(500_000)
  })
})

it.each([
  '/docs/',
  '/docs/nope.js',
  '/docs/changes.json',
  '/docs/scalar-of-yesterday.js',
  '/docs/..%2Fopenapi.json',
  '/docs/page/start.js',
  '/docs.html',
])('GET %s returns the common 404', async (url) => {
  expect(await app.error(url)).toMatchObject({ status: 404, code: 'resource_missing' })
})
