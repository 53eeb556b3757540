import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { ABANDONED_AFTER_MS } from '../../../src/management/idempotency/idempotency.ts'
import type { RequestClaim } from '../../../src/management/idempotency/idempotency-store.ts'
import type { ManagementStores } from '../../../src/management/management-stores.ts'
import { OTHER_ADMIN } from '../../support/management/build-management.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { createEndpoint, RECEIVER } from '../../support/management/webhook-endpoints.ts'

const KEYS = '/accounts/acc_1/keys'
const conflict = {
  status: 409,
  json: { error: { type: 'invalid_request_error', code: 'conflict' } },
}

/** Operations that the store refuses from now on. */
type Operation = 'complete' | 'forget' | 'audit' | 'sandbox'
const unavailable = new Set<Operation>()
function check(operation: Operation): void {
  if (unavailable.has(operation)) throw new Unavailable('the store is down')
}

const failingClaim = (claim: RequestClaim): RequestClaim => ({
  ...claim,
  async complete(response) {
    check('complete')
    return claim.complete(response)
  },
  async forget() {
    check('forget')
    return claim.forget()
  },
})

function failing({ idempotency, audit, sandbox, ...stores }: ManagementStores): ManagementStores {
  return {
    ...stores,
    audit: {
      ...audit,
      async insert(entry) {
        check('audit')
        return audit.insert(entry)
      },
    },
    // The response to a write that the store makes may be lost.
    sandbox: {
      ...sandbox,
      async insert(order) {
        await sandbox.insert(order)
        check('sandbox')
      },
      async replace(order) {
        const isReplaced = await sandbox.replace(order)
        check('sandbox')
        return isReplaced
      },
    },
    idempotency: {
      ...idempotency,
      async begin(request, since) {
        const begun = await idempotency.begin(request, since)
        return 'claim' in begun ? { claim: failingClaim(begun.claim) } : begun
      },
    },
  }
}

const test = useManagementApi({ stores: failing })

let count = 0
/** A key that no other test uses. */
function newKey(): string {
  count += 1
  return `key-${count}`
}

/** The response to the next call of this method, which changes the store, is lost. */
function losing<Name extends string>(
  store: Record<Name, (...args: never[]) => Promise<unknown>>,
  name: Name,
): void {
  const method = store[name]
  store[name] = async (...args) => {
    store[name] = method
    await method(...args)
    throw new Unavailable('no response in time')
  }
}

const keysOf = async (accountId: string) => {
  await test.api.refresh()
  return test.api.services.keys.list(accountId)
}

describe('a repeated POST with the same Idempotency-Key', () => {
  it('gets the first response, without the secret, and changes nothing', async () => {
    const path = '/accounts/acc_repeat/keys'
    const key = newKey()
    const first = await test.api.postOnce(path, key, { name: 'ERP' })
    const second = await test.api.postOnce(path, key, { name: 'ERP' })
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    expect(second.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'content-type': 'application/json; charset=utf-8',
      'request-id': expect.stringMatching(/^req_/),
    })
    const { key: secret, ...rest } = first.json
    expect(secret).toMatch(/^key_live_/)
    expect(second).toMatchObject({ status: 201 })
    expect(second.json).toEqual(rest)
    expect(await keysOf('acc_repeat')).toHaveLength(1)
    expect(await test.api.audited('acc_repeat')).toHaveLength(1)
  })

  it('gets the first response without the secret of an endpoint, with its URL', async () => {
    const key = newKey()
    const path = '/accounts/acc_1/webhook-endpoints'
    const first = await test.api.postOnce(path, key, { url: RECEIVER })
    const second = await test.api.postOnce(path, key, { url: RECEIVER })
    expect(second.json).toMatchObject({ id: first.json.id, url: RECEIVER })
    expect(second.json).not.toHaveProperty('secret')
    const action = `${path}/${first.json.id}/roll-secret`
    const rollKey = newKey()
    const rolled = await test.api.postOnce(action, rollKey)
    const again = await test.api.postOnce(action, rollKey)
    expect(rolled.json).toHaveProperty('secret')
    expect(again.json).toEqual({ old_secret_ends_at: rolled.json.old_secret_ends_at })
  })

  it('gets 409 when the body is another one', async () => {
    const key = newKey()
    await test.api.postOnce(KEYS, key, { name: 'one' })
    const refused = await test.api.postOnce(KEYS, key, { name: 'two' })
    expect(refused).toMatchObject(conflict)
    expect(refused.headers).not.toHaveProperty('retry-after')
  })

  it('is refused when the body is nested too deeply to be compared', async () => {
    const body = '['.repeat(30_000) + ']'.repeat(30_000)
    const headers = { 'content-type': 'application/json', 'idempotency-key': newKey() }
    const { status, json } = await test.api.call('POST', KEYS, { headers, body })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'body'])
  })

  it('runs again after 24 hours', async () => {
    const key = newKey()
    const first = await test.api.postOnce(KEYS, key)
    test.api.clock.nowMs += 24 * HOUR_MS
    expect((await test.api.postOnce(KEYS, key)).json.id).toBe(first.json.id)
    test.api.clock.nowMs += 1
    expect((await test.api.postOnce(KEYS, key)).json.id).not.toBe(first.json.id)
  })

  it('runs again after it was refused', async () => {
    const endpoint = await createEndpoint(test.api)
    const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}`
    await test.api.post(`${path}/disable`)
    const key = newKey()
    expect(await test.api.postOnce(`${path}/test`, key)).toMatchObject(conflict)
    await test.api.post(`${path}/enable`)
    expect(await test.api.postOnce(`${path}/test`, key)).toMatchObject({ status: 200 })
    const keyOfInvalid = newKey()
    expect(await test.api.postOnce(KEYS, keyOfInvalid, { name: 1 })).toMatchObject({ status: 400 })
    expect(await test.api.postOnce(KEYS, keyOfInvalid, { name: 'x' })).toMatchObject({
      status: 201,
    })
  })

  it('runs again after a 503', async () => {
    const key = newKey()
    unavailable.add('audit')
    const refused = await test.api.postOnce(KEYS, key)
    unavailable.clear()
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await test.api.postOnce(KEYS, key)).toMatchObject({ status: 201 })
  })

  it('completes what a 503 left of a sandbox order, and changes nothing twice', async () => {
    const path = '/accounts/acc_sandbox/sandbox-orders'
    const [key, moveKey] = [newKey(), newKey()]
    const create = () => test.api.postOnce(path, key, { scenario: 'renewal_paid' })
    unavailable.add('sandbox')
    expect(await create()).toMatchObject({ status: 503 })
    unavailable.clear()
    const { status, json: order } = await create()
    expect([status, order.version]).toEqual([201, 1])
    const renew = () => test.api.postOnce(`${path}/${order.id}/renew`, moveKey)
    unavailable.add('sandbox')
    expect(await renew()).toMatchObject({ status: 503 })
    unavailable.clear()
    expect(await renew()).toMatchObject({ status: 200, json: { version: 2 } })
    await test.api.refresh()
    expect((await test.api.get(path)).json.data).toMatchObject([{ id: order.id, version: 2 }])
  })

  it('returns the key that a 503 left, without its secret', async () => {
    const path = '/accounts/acc_key/keys'
    const key = newKey()
    const create = () => test.api.postOnce(path, key, { name: 'ERP' })
    losing(test.api.services.keys, 'insert')
    expect(await create()).toMatchObject({ status: 503 })
    const { status, json, headers } = await create()
    expect([status, json.name, json.key]).toEqual([201, 'ERP', undefined])
    expect(headers).toMatchObject({ 'idempotent-replayed': 'true' })
    expect(await keysOf('acc_key')).toMatchObject([{ keyId: json.id }])
  })

  it.each(['revoked', 'expired'])(
    'creates another key when the one that a 503 left is %s',
    async (state) => {
      const path = `/accounts/acc_${state}/keys`
      const key = newKey()
      const create = () => test.api.postOnce(path, key, { expires_in_seconds: 60 })
      losing(test.api.services.keys, 'insert')
      expect(await create()).toMatchObject({ status: 503 })
      const [left] = await keysOf(`acc_${state}`)
      if (state === 'revoked') await test.api.post(`${path}/${left?.keyId}/revoke`)
      else test.api.clock.nowMs += 60_000
      const { json, headers } = await create()
      expect(json.key).toMatch(/^key_live_/)
      expect(json.id).not.toBe(left?.keyId)
      expect(headers).not.toHaveProperty('idempotent-replayed')
    },
  )

  it.each(['insert', 'expire'] as const)(
    'completes the roll of a key whose %s a 503 left, and issues no other',
    async (write) => {
      const accountId = `acc_roll_${write}`
      const path = `/accounts/${accountId}/keys`
      const { id } = (await test.api.post(path)).json
      await test.api.refresh()
      const key = newKey()
      const roll = () => test.api.postOnce(`${path}/${id}/roll`, key, { overlap_seconds: 0 })
      losing(test.api.services.keys, write)
      expect(await roll()).toMatchObject({ status: 503 })
      const rolledAt = test.api.clock.nowMs
      test.api.clock.nowMs += 1_000
      const { status, json, headers } = await roll()
      expect([status, json.key]).toEqual([201, undefined])
      expect(headers).toMatchObject({ 'idempotent-replayed': 'true' })
      const ends = new Map((await keysOf(accountId)).map((one) => [one.keyId, one.expiresAt]))
      expect(ends).toEqual(
        new Map([
          [id, rolledAt],
          [json.id, null],
        ]),
      )
    },
  )

  it('returns the endpoint that a 503 left, with its secret, and creates no other', async () => {
    const path = '/accounts/acc_endpoint/webhook-endpoints'
    const key = newKey()
    const create = () => test.api.postOnce(path, key, { url: RECEIVER })
    losing(test.api.services.webhooks.endpoints, 'insert')
    expect(await create()).toMatchObject({ status: 503 })
    const { status, json } = await create()
    expect([status, json.secret]).toEqual([201, expect.stringMatching(/^whsec_/)])
    await test.api.refresh()
    expect((await test.api.get(path)).json.data).toMatchObject([{ id: json.id }])
    const audited = await test.api.audited('acc_endpoint')
    expect(audited.map(({ target }) => target)).toEqual([json.id, json.id])
    expect(new Set(audited.map(({ outcome }) => outcome))).toEqual(new Set(['unknown', 'done']))
  })

  it('returns the secret of a roll that a 503 left, and ends no other secret', async () => {
    const { id } = await createEndpoint(test.api)
    const key = newKey()
    const roll = () =>
      test.api.postOnce(`/accounts/acc_1/webhook-endpoints/${id}/roll-secret`, key, {
        overlap_seconds: 3_600,
      })
    const { endpoints } = test.api.services.webhooks
    losing(endpoints, 'update')
    expect(await roll()).toMatchObject({ status: 503 })
    const { status, json } = await roll()
    expect([status, json.secret]).toEqual([200, expect.stringMatching(/^whsec_/)])
    const stored = await endpoints.byId(id)
    expect(stored).toMatchObject({ secret: { generation: 2 }, previousSecret: { generation: 1 } })
    const endsAt = new Date(stored?.previousSecret?.endsAt ?? 0).toISOString()
    expect(json.old_secret_ends_at).toBe(endsAt)
  })

  it('is a conflict for two minutes when the process ended meanwhile, then runs again', async () => {
    const key = newKey()
    unavailable.add('complete')
    const first = await test.api.postOnce(KEYS, key)
    unavailable.clear()
    expect(first.status).toBe(201)
    test.api.clock.nowMs += ABANDONED_AFTER_MS
    const early = await test.api.postOnce(KEYS, key)
    expect(early).toMatchObject({ ...conflict, headers: { 'retry-after': '1' } })
    test.api.clock.nowMs += 1
    const repeated = await Promise.all([1, 2, 3, 4].map(() => test.api.postOnce(KEYS, key)))
    const { key: _, ...made } = first.json
    const succeeded = repeated.filter(({ status }) => status !== 409)
    expect(succeeded.map(({ json }) => json)).toEqual(succeeded.map(() => made))
    const entries = (await test.api.audited()).filter(({ target }) => target === made.id)
    expect(entries).toHaveLength(2)
  })
})

describe('concurrent POSTs with the same Idempotency-Key', () => {
  it('change once: the others are a conflict, or get the response', async () => {
    const path = '/accounts/acc_concurrent/keys'
    for (let round = 1; round <= 5; round += 1) {
      const key = newKey()
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => test.api.postOnce(path, key, { name: 'ERP' })),
      )
      const statuses = responses.map(({ status }) => status)
      expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
      expect(responses.filter(({ json }) => json.key !== undefined)).toHaveLength(1)
      expect(await keysOf('acc_concurrent')).toHaveLength(round)
      expect(await test.api.postOnce(path, key, { name: 'ERP' })).toMatchObject({ status: 201 })
    }
  })
})

describe('the scope of an Idempotency-Key', () => {
  it('is the token, the route and its ids', async () => {
    const key = newKey()
    const one = await test.api.postOnce('/accounts/acc_1/keys', key)
    const other = await test.api.postOnce('/accounts/acc_2/keys', key)
    const ofOther = await test.api.postOnce('/accounts/acc_1/keys', key, undefined, OTHER_ADMIN)
    await test.api.refresh()
    const rolled = await test.api.postOnce(`/accounts/acc_1/keys/${one.json.id}/roll`, key)
    const ids = [one, other, ofOther, rolled].map(({ json }) => json.id)
    expect(new Set(ids).size).toBe(4)
  })

  it.each(['', 'two words', 'ção', 'x'.repeat(256)])(
    'refuses the key "%s" by name',
    async (key) => {
      expect(await test.api.postOnce(KEYS, key)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request', param: 'Idempotency-Key' } },
      })
    },
  )

  it.each(['!', 'x'.repeat(255), '~#"\\'])('accepts the key "%s"', async (key) => {
    expect(await test.api.postOnce(KEYS, key)).toMatchObject({ status: 201 })
  })
})
