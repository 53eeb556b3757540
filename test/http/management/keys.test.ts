import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { useManagementApi } from '../../support/management/management-api.ts'

let isUsageDown = false
const test = useManagementApi({
  stores: ({ usage, ...stores }) => ({
    ...stores,
    usage: {
      ...usage,
      async lastUsedAt(accountId) {
        if (isUsageDown) throw new Unavailable('the usage is down')
        return usage.lastUsedAt(accountId)
      },
    },
  }),
})

describe('keys over HTTP', () => {
  it('are listed oldest first, in pages, without the secret', async () => {
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) {
      test.api.clock.nowMs += 1
      made.push((await test.api.post('/accounts/acc_pages/keys')).json.id)
    }
    await test.api.refresh()
    const pages = await test.api.walk('/accounts/acc_pages/keys', 2)
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1])
    expect(pages.flat().map(({ id }) => id)).toEqual(made)
    expect(JSON.stringify(pages)).not.toContain('key_live_')
  })

  it('are created, rolled and revoked; each change has one entry in the audit log', async () => {
    const created = await test.api.post('/accounts/acc_life/keys', { name: 'ERP' })
    expect(created).toMatchObject({
      status: 201,
      json: { object: 'api_key', account_id: 'acc_life', name: 'ERP', last_used_at: null },
    })
    await test.api.refresh()
    const path = `/accounts/acc_life/keys/${created.json.id}`
    const rolled = await test.api.post(`${path}/roll`, { overlap_seconds: 60 })
    expect(rolled).toMatchObject({ status: 201, json: { name: 'ERP' } })
    expect(rolled.json.key).toMatch(/^key_live_/)
    expect(await test.api.post(`${path}/revoke`)).toMatchObject({ status: 200 })
    await test.api.refresh()
    const actor = 'token:platform'
    const target = created.json.id
    expect(await test.api.audited('acc_life')).toEqual(
      expect.arrayContaining([
        { actor, action: 'key.create', target, outcome: 'done' },
        { actor, action: 'key.roll', target, outcome: 'done' },
        { actor, action: 'key.revoke', target, outcome: 'done' },
      ]),
    )
  })

  it('have the same last use in the response to their revocation as in the list', async () => {
    const path = '/accounts/acc_last_use/keys'
    const { id } = (await test.api.post(path)).json
    const counted = { keyId: id, accountId: 'acc_last_use', processId: 'one', day: '2026-03-01' }
    const lastUsedAt = Date.parse('2026-03-01T12:00:00Z')
    await test.api.services.managementStores.usage.save([
      { ...counted, requests: 1, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt },
    ])
    await test.api.refresh()
    const { json: revoked } = await test.api.post(`${path}/${id}/revoke`)
    expect(revoked.last_used_at).toBe('2026-03-01T12:00:00.000Z')
    await test.api.refresh()
    expect((await test.api.get(path)).json.data).toEqual([revoked])
  })

  it('that were revoked are a success while their usage is unavailable', async () => {
    const path = '/accounts/acc_no_usage/keys'
    const { id } = (await test.api.post(path)).json
    await test.api.refresh()
    isUsageDown = true
    const response = await test.api.post(`${path}/${id}/revoke`)
    isUsageDown = false
    expect(response).toMatchObject({ status: 200, json: { id, revoked_at: expect.any(String) } })
  })

  it('that a roll made are named by its entry in the audit log', async () => {
    const { json: old } = await test.api.post('/accounts/acc_rolled/keys')
    await test.api.refresh()
    const { json: made } = await test.api.post(`/accounts/acc_rolled/keys/${old.id}/roll`)
    const { json } = await test.api.get('/audit?account_id=acc_rolled')
    const named = json.data.map((entry: Record<string, unknown>) => [
      entry['action'],
      entry['target'],
      entry['successor'],
    ])
    expect(named).toHaveLength(2)
    expect(named).toContainEqual(['key.roll', old.id, made.id])
    expect(named).toContainEqual(['key.create', old.id, null])
  })

  it.each([
    ['', null],
    ['   ', null],
    [' ERP ', 'ERP'],
  ])('have a name without outer spaces, or none: %j', async (given, name) => {
    const created = await test.api.post('/accounts/acc_names/keys', { name: given })
    expect(created).toMatchObject({ status: 201, json: { name } })
  })

  it('of another account do not exist', async () => {
    const { json } = await test.api.post('/accounts/acc_2/keys')
    await test.api.refresh()
    for (const action of ['roll', 'revoke']) {
      expect(await test.api.post(`/accounts/acc_1/keys/${json.id}/${action}`)).toMatchObject({
        status: 404,
        json: { error: { code: 'resource_missing' } },
      })
    }
  })

  it('of an account that is blocked stay, and the account is unblocked again', async () => {
    const path = '/accounts/acc_block/block'
    const answer = (blocked: boolean) => {
      return { status: 200, json: { object: 'account', id: 'acc_block', blocked } }
    }
    expect(await test.api.get(path)).toMatchObject(answer(false))
    expect(await test.api.call('PUT', path)).toMatchObject(answer(true))
    expect(await test.api.get(path)).toMatchObject(answer(true))
    expect(await test.api.call('DELETE', path)).toMatchObject(answer(false))
    expect(await test.api.get(path)).toMatchObject(answer(false))
  })
})
