import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import type { ChangelogEntry } from '../../../src/openapi/changelog.ts'
import { ROOMY } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { openTestServices, silent } from '../../support/stores/services.ts'

const deprecatedList: ChangelogEntry[] = [
  {
    id: 'lista',
    date: '2027-01-01',
    kind: 'deprecated',
    title: 'A lista',
    text: 'Use /v2/orders.',
    operations: ['orders_list'],
    since: '2027-01-01T00:00:00Z',
    sunset: '2028-06-30T03:00:00Z',
  },
]

let test: Awaited<ReturnType<typeof openTestServices>>
let key: string
beforeAll(async () => {
  test = await openTestServices(ROOMY)
  key = (await test.issue()).key
  await test.load([sourceOrder({ id: 'ord_there' })])
})
afterAll(() => test.close())

async function answerOf(url: string, changelog: ChangelogEntry[], bearer = key) {
  const { config, services, metrics } = test
  const app = buildApp(config, services, { logger: silent, metrics, changelog: changelog })
  const { statusCode, headers } = await app.inject({
    url,
    headers: { authorization: `Bearer ${bearer}` },
  })
  await app.close()
  return { status: statusCode, headers }
}

const DEPRECATION_HEADERS = {
  deprecation: '@1798761600',
  sunset: 'Fri, 30 Jun 2028 03:00:00 GMT',
  link: '</docs#como-a-api-muda>; rel="deprecation"; type="text/html"',
}

describe('a deprecated operation', () => {
  it.each([
    [200, '/v1/orders?limit=1'],
    [400, '/v1/orders?limit=0'],
  ])('sends Deprecation (RFC 9745) and Sunset (RFC 8594) with status %i', async (status, url) => {
    const answer = await answerOf(url, deprecatedList)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject(DEPRECATION_HEADERS)
  })

  it('sends the deprecation headers also without a valid key', async () => {
    const answer = await answerOf('/v1/orders', deprecatedList, 'key_live_x')
    expect(answer.status).toBe(401)
    expect(answer.headers).toMatchObject(DEPRECATION_HEADERS)
  })
})

it('an operation deprecated after one of its fields sends its own deprecation headers', async () => {
  const [operationEntry] = deprecatedList as [ChangelogEntry]
  const fieldEntry = {
    ...operationEntry,
    id: 'campo',
    fields: ['Order.utm'],
    since: '2026-12-01T00:00:00Z',
  }
  for (const changelog of [
    [operationEntry, fieldEntry],
    [fieldEntry, operationEntry],
  ]) {
    expect((await answerOf('/v1/orders', changelog as ChangelogEntry[])).headers).toMatchObject(
      DEPRECATION_HEADERS,
    )
  }
})

describe('an operation without a deprecation', () => {
  it.each([
    ['when another operation is deprecated', '/v1/orders/ord_there', deprecatedList],
    ['when none is deprecated', '/v1/orders', []],
  ])('sends no deprecation headers %s', async (_when, url, changelog) => {
    const { status, headers } = await answerOf(url, changelog)
    expect(status).toBe(200)
    for (const name of Object.keys(DEPRECATION_HEADERS)) expect(headers).not.toHaveProperty(name)
  })
})
