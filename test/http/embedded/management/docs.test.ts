import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { RESOURCE_NOT_FOUND_MESSAGE } from '../../../../src/http/api-error.ts'
import { useManagementApi } from '../../../support/management/management-api.ts'

const test = useManagementApi()

const get = (url: string) => test.api.app.inject({ url })
const committed = (path: string) =>
  readFileSync(new URL(`../../../../openapi/${path}`, import.meta.url), 'utf8')

it.each([
  ['/openapi.json', 'management.json', 'application/json; charset=utf-8'],
  ['/docs/guide.md', 'management/guide.md', 'text/markdown; charset=utf-8'],
])('the management port serves %s without a token', async (url, file, type) => {
  const { statusCode, headers, body } = await get(url)
  expect([statusCode, headers['content-type']]).toEqual([200, type])
  expect(body).toBe(committed(file))
})

it('the management port serves a docs page whose files all exist, without a token', async () => {
  const { statusCode, headers, body } = await get('/docs')
  expect(statusCode).toBe(200)
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(body).toContain('<title>API de gestão: documentação</title>')
  const paths = [...body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(5)
  for (const path of paths) expect([path, (await get(path)).statusCode]).toEqual([path, 200])
})

it.each(['/docs.md', '/llms.txt', '/docs/changes.atom'])(
  'the management port has no %s, which is about the public API',
  async (url) => {
    expect((await get(url)).statusCode).toBe(404)
  },
)

it.each(['/', '/docs/', '/docs/none.md'])(
  'the 404 of the management port for %s mentions no order',
  async (url) => {
    expect((await get(url)).json().error.message).toBe(RESOURCE_NOT_FOUND_MESSAGE)
  },
)
