import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { useManagementApi } from '../../support/management/management-api.ts'

const test = useManagementApi()

const NOW = Date.parse('2026-11-23T02:00:00Z')
const dayOf = (daysAgo: number) => new Date(NOW - daysAgo * DAY_MS).toISOString().slice(0, 10)

async function count(accountId: string, ...daysAgo: readonly number[]): Promise<void> {
  await countFor('key_1', accountId, daysAgo)
}

async function countFor(keyId: string, accountId: string, daysAgo: readonly number[]) {
  await test.api.services.managementStores.usage.save(
    daysAgo.flatMap((ago) =>
      ['one', 'two'].map((name) => ({
        accountId,
        day: dayOf(ago),
        keyId,
        processId: `${accountId} ${name}`,
        requests: 3,
        byStatus: { 200: 2, 429: 1 },
        rateLimited: 1,
        lastUsedAt: NOW,
      })),
    ),
  )
  await test.api.refresh()
}

describe('usage over HTTP', () => {
  it('is the sum over all processes, by day and key', async () => {
    test.api.clock.nowMs = NOW
    await count('acc_sum', 1, 0)
    const { status, json } = await test.api.get('/accounts/acc_sum/usage?by=key')
    const sums = {
      key_id: 'key_1',
      requests: 6,
      by_status: { 200: 4, 429: 2 },
      rate_limited: 2,
    }
    expect(status).toBe(200)
    expect(json).toEqual({
      object: 'usage',
      data: [
        { day: dayOf(1), ...sums },
        { day: dayOf(0), ...sums },
      ],
    })
  })

  it('has the keys of the sandbox too, and those of no other account', async () => {
    test.api.clock.nowMs = NOW
    await countFor('key_live', 'acc_both', [0, 1])
    await countFor('key_a_test', 'acc_both.test', [0])
    await countFor('key_other', 'acc_both2', [0])
    const { json } = await test.api.get('/accounts/acc_both/usage')
    expect(json.data).toMatchObject([
      { day: dayOf(1), key_id: 'key_live' },
      { day: dayOf(0), key_id: 'key_a_test', requests: 6 },
      { day: dayOf(0), key_id: 'key_live' },
    ])
  })

  it('has the last 30 days, today included, unless the query has others', async () => {
    test.api.clock.nowMs = NOW
    await count('acc_days', 40, 30, 29, 0)
    const days = async (query: string) => {
      const { json } = await test.api.get(`/accounts/acc_days/usage?${query}`)
      return json.data.map(({ day }: { day: string }) => day)
    }
    expect(await days('')).toEqual([dayOf(29), dayOf(0)])
    expect(await days(`to=${dayOf(30)}`)).toEqual([dayOf(40), dayOf(30)])
    expect(await days(`from=${dayOf(30)}&to=${dayOf(29)}`)).toEqual([dayOf(30), dayOf(29)])
  })

  it.each([
    ['by', 'by=day'],
    ['from', 'from=2026-02-30'],
    ['from', 'from=2026-11-01T00:00:00Z'],
    ['to', 'to='],
    ['from', 'from=2026-11-20&to=2026-11-19'],
    ['from', 'from=2025-11-18&to=2026-11-19'],
    ['from', 'from=2026-11-01&from=2026-11-02'],
  ])('refuses the parameter %s of %s by name', async (param, query) => {
    expect(await test.api.get(`/accounts/acc_1/usage?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param } },
    })
  })

  it('has at most 366 days', async () => {
    const query = 'from=2025-11-19&to=2026-11-19'
    expect(await test.api.get(`/accounts/acc_1/usage?${query}`)).toMatchObject({ status: 200 })
  })
})
