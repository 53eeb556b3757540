import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../src/lib/unavailable.ts'
import {
  ABANDONED_AFTER_MS,
  createIdempotency,
} from '../../../../src/management/idempotency/idempotency.ts'
import type { IdempotencyStore } from '../../../../src/management/idempotency/idempotency-store.ts'
import { createOpenSearchIdempotencyStore } from '../../../../src/stores/opensearch/management/idempotency-store.ts'
import {
  GENEROUS_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import { type Behaviour, respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const CLAIM = { id: 'id_1', createdAt: [10_000, 20_000] }
const RESPONSE = { status: 201, body: '{}' }

const stored = (createdAt: number, _seq_no: number, response: typeof RESPONSE | null = null) => {
  const request = { id: 'id_1', bodyDigest: 'digest_1', createdAt, response }
  return respond(200, { found: true, _seq_no, _primary_term: 1, _source: { request } })
}
const bulk = (result: object) => respond(200, { items: [{ index: result }] })
const CONFLICT = bulk({ status: 409, error: { type: 'version_conflict_engine_exception' } })
const ACCEPTED = bulk({ status: 200, _seq_no: 3, _primary_term: 1 })

const changes: [name: string, change: (store: IdempotencyStore) => Promise<void>][] = [
  ['the response', (store) => store.complete(CLAIM, RESPONSE)],
  ['the end', (store) => store.forget(CLAIM)],
  ['a renewal', (store) => store.renew(CLAIM, 30_000)],
]

/** Runs a change whose write is a conflict, since the request then has another `createdAt`. */
async function conflicting(change: (typeof changes)[0][1], createdAt: number) {
  const { url, received } = await serve(stored(10_000, 1), CONFLICT, stored(createdAt, 2), ACCEPTED)
  const { client } = connect([url])
  await change(
    createOpenSearchIdempotencyStore({ client, index: 'requests', deadlineMs: GENEROUS_MS }),
  )
  return received
}

describe.each(changes)('%s of an idempotent request', (_name, change) => {
  it('is written after a conflict with a renewal of its own claim', async () => {
    const [, first, , second, ...others] = await conflicting(change, 20_000)
    expect(first?.body).toContain('"if_seq_no":1')
    expect(second?.body).toContain('"if_seq_no":2')
    expect(others).toEqual([])
  })

  it('is not written after a conflict with the begin of another claim', async () => {
    expect(await conflicting(change, 15_000)).toHaveLength(3)
  })
})

describe('the begin of an idempotent request after an outdated read', () => {
  const NOW = 2 * DAY_MS
  const ABANDONED_AT = NOW - ABANDONED_AFTER_MS - 1

  async function begin(...behaviours: Behaviour[]) {
    const { url } = await serve(...behaviours)
    const { client } = connect([url])
    const target = { client, index: 'requests', deadlineMs: GENEROUS_MS }
    const idempotency = createIdempotency(createOpenSearchIdempotencyStore(target), () => NOW)
    return idempotency.begin({ id: 'id_1', bodyDigest: 'digest_1' })
  }

  it('returns the response of an abandoned request, and does not run it again', async () => {
    const current: Behaviour = (response, request) => {
      const written = request.body.includes('"if_seq_no":2') ? ACCEPTED : CONFLICT
      const behaviour = request.method === 'GET' ? stored(ABANDONED_AT, 2, RESPONSE) : written
      behaviour(response, request)
    }
    const decision = await begin(stored(ABANDONED_AT, 1), current)
    expect(decision).toEqual({ kind: 'completed', response: RESPONSE })
  })

  it('returns no response that has expired', async () => {
    const expired = stored(0, 1, RESPONSE)
    expect(await thrownBy(begin(expired, CONFLICT, expired))).toBeInstanceOf(Unavailable)
  })
})
