import { describe, expect, it } from 'vitest'
import type { IdempotencyStore } from '../../../../src/management/idempotency/idempotency-store.ts'
import { createOpenSearchIdempotencyStore } from '../../../../src/stores/opensearch/management/idempotency-store.ts'
import { GENEROUS_MS, useScriptedNodes } from '../../../support/stores/scripted/scripted-nodes.ts'
import { respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const CLAIM = { id: 'id_1', createdAt: [10_000, 20_000] }
const RESPONSE = { status: 201, body: '{}' }

const stored = (createdAt: number, _seq_no: number) => {
  const request = { id: 'id_1', bodyDigest: 'digest_1', createdAt, response: null }
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
