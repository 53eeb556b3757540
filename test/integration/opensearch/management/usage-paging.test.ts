import { expect, it } from 'vitest'
import { createOpenSearchUsageStore } from '../../../../src/stores/opensearch/management/usage-store.ts'
import { GENEROUS_MS, useScriptedNodes } from '../../../support/stores/scripted/scripted-nodes.ts'
import { respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const PAGE_SIZE = 1_000
const SHARDS = { _shards: { total: 1, successful: 1, failed: 0 } }
const REFRESHED = respond(200, SHARDS)

function hit(n: number, seqNo: number, requests: number) {
  const key = { day: '2026-11-01', keyId: `key_${n}`, accountId: 'acc_1', processId: 'run_1' }
  const counts = { requests, byStatus: { 200: requests }, rateLimited: 0, lastUsedAt: 1 }
  const state = { _seq_no: seqNo, _primary_term: 1, sort: [seqNo] }
  return {
    _id: `2026-11-01:key_${n}:run_1`,
    ...state,
    _source: { counters: { ...key, ...counts } },
  }
}

const found = (...hits: object[]) => respond(200, { timed_out: false, ...SHARDS, hits: { hits } })

it('a counter that is saved between two pages of a list counts once', async () => {
  const page = Array.from({ length: PAGE_SIZE }, (_, n) => hit(n, n, 1))
  const { url } = await serve(REFRESHED, found(...page), found(hit(0, PAGE_SIZE, 3)))
  const target = { client: connect([url]).client, index: 'usage', deadlineMs: GENEROUS_MS }
  const days = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }
  const [first, ...others] = await createOpenSearchUsageStore(target).list(days)
  expect(first).toMatchObject({ keyId: 'key_0', requests: 3, byStatus: { 200: 3 } })
  expect(others).toHaveLength(PAGE_SIZE - 1)
})
