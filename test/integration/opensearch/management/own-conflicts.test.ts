import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  ABANDONED_AFTER_MS,
  createIdempotency,
} from '../../../../src/management/idempotency/idempotency.ts'
import type { RequestClaim } from '../../../../src/management/idempotency/idempotency-store.ts'
import { createOpenSearchIdempotencyStore } from '../../../../src/stores/opensearch/management/idempotency-store.ts'
import {
  GENEROUS_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const RESPONSE = { status: 201, body: '{}' }

const stored = (createdAt: number, _seq_no: number, response: typeof RESPONSE | null = null) => {
  const request = { id: 'id_1', bodyDigest: 'digest_1', createdAt, response }
  return respond(200, { found: true, _seq_no, _primary_term: 1, _source: { request } })
}
const bulk = (result: object) => respond(200, { items: [{ index: result }] })
const CONFLICT = bulk({ status: 409, error: { type: 'version_conflict_engine_exception' } })
const accepted = (_seq_no: number) => bulk({ status: 200, _seq_no, _primary_term: 1 })
const MISSING = respond(404, { found: false })

const changes: [name: string, change: (claim: RequestClaim) => Promise<void>][] = [
  ['the response', (claim) => claim.complete(RESPONSE)],
  ['the end', (claim) => claim.forget()],
  ['a renewal', (claim) => claim.renew(30_000)],
]

describe.each(changes)('%s of an idempotent request', (_name, change) => {
  /** Begins a request, whose state then is 1. `received`: the later requests. */
  async function begin(...behaviours: Behaviour[]) {
    const { url, received } = await serve(MISSING, accepted(1), ...behaviours)
    const { client } = connect([url])
    const target = { client, index: 'requests', deadlineMs: GENEROUS_MS }
    const begun = await createOpenSearchIdempotencyStore(target).begin(
      { id: 'id_1', bodyDigest: 'digest_1', createdAt: 10_000, response: null },
      { completed: 0, inProgress: 0 },
    )
    if ('found' in begun) throw new Error('the request was found')
    return { claim: begun.claim, received: () => received.slice(2).map(({ body }) => body) }
  }
  const onState = (state: number) => expect.stringContaining(`"if_seq_no":${state},`)

  it('is written without a read, which may be outdated', async () => {
    const { claim, received } = await begin(accepted(2))
    await change(claim)
    expect(received()).toEqual([onState(1)])
  })

  it('is written without a read after a renewal', async () => {
    const { claim, received } = await begin(accepted(2), accepted(3))
    await claim.renew(20_000)
    await change(claim)
    expect(received()).toEqual([onState(1), onState(2)])
  })

  it('is written after a conflict with a renewal of its own claim', async () => {
    const late = respondError(503, 'process_cluster_event_timeout_exception')
    const { claim, received } = await begin(late, CONFLICT, stored(20_000, 2), accepted(3))
    await expect(claim.renew(20_000)).rejects.toBeInstanceOf(Unavailable)
    await change(claim)
    expect(received()).toEqual([onState(1), onState(1), '', onState(2)])
  })

  it('is not written after a conflict with the begin of another claim', async () => {
    const { claim, received } = await begin(CONFLICT, stored(15_000, 2))
    await change(claim)
    expect(received()).toHaveLength(2)
  })

  it.each([
    ['no request', MISSING],
    ['an earlier one', stored(5_000, 0)],
    ['the one of the conflict', stored(10_000, 1)],
  ])('is unavailable when the read after a conflict returns %s', async (_what, outdated) => {
    const { claim } = await begin(CONFLICT, outdated)
    expect(await thrownBy(change(claim))).toBeInstanceOf(Unavailable)
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
      const written = request.body.includes('"if_seq_no":2') ? accepted(3) : CONFLICT
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
