import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

/** Removes a field of a document, and makes the change searchable. */
async function damage(index: string, id: string, field: string): Promise<string> {
  const source = `ctx._source.${field.replace(/\.?([^.]+)$/, ".remove('$1')").replace(/^\./, '')}`
  const path = `${test.prefix}${index}/_update/${encodeURIComponent(id)}?refresh=true`
  await opensearch('POST', path, { script: { source } })
  return `the document ${id} of the index ${test.prefix}${index} is damaged`
}

async function expectUnavailable(call: Promise<unknown>, message: string): Promise<void> {
  const error = await thrownBy(call)
  expect(error).toBeInstanceOf(Unavailable)
  expect(String(error)).toContain(message)
}

describe('a damaged document of the management API makes its reader unavailable', () => {
  it.each(['entry', 'entry.at', 'entry.actor'])('an entry without %s', async (field) => {
    const { audit } = test.services.managementStores
    await audit.insert({
      ...{ id: 'aud_1', at: 1, actor: 'cli', requestId: null, accountId: 'acc_1', target: 'key_1' },
      action: 'key.create',
      outcome: 'done',
    })
    const message = await damage('audit-log', 'aud_1', field)
    await expectUnavailable(audit.list({ limit: 1, after: null }), message)
  })

  it.each(['counters', 'counters.requests'])('a counter without %s', async (field) => {
    const { usage } = test.services.managementStores
    await usage.save([
      {
        ...{ day: '2026-11-01', keyId: 'key_1', accountId: 'acc_1', processId: 'run_1' },
        ...{ requests: 1, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt: 1 },
      },
    ])
    const message = await damage('api-usage', '2026-11-01:key_1:run_1', field)
    const days = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }
    await expectUnavailable(usage.list(days), message)
  })

  it.each(['session', 'session.accountId'])('a link and a session without %s', async (field) => {
    const { sessions } = test.services.managementStores
    const grant = { accountId: 'acc_1', subject: 'maria', capabilities: [] }
    const session = { ...grant, digest: 'd', expiresAt: 1 }
    await sessions.insertLink({ ...session, sessionMs: 1 })
    await sessions.insert(session)
    const link = await damage('console-sessions', 'link:d', field)
    await expectUnavailable(sessions.takeLink('d'), link)
    const message = await damage('console-sessions', 'session:d', field)
    await expectUnavailable(sessions.find('d'), message)
  })

  it.each(['order', 'order.source'])('an order of a sandbox without %s', async (field) => {
    const { sandbox } = test.services.managementStores
    const order = { accountId: 'acc_1', orderId: 'ord_1', scenario: 'pix_awaiting', madeAt: 1 }
    await sandbox.insert({ ...order, source: sourceOrder({ id: 'ord_1' }) })
    const message = await damage('sandbox-orders', 'acc_1:ord_1', field)
    await expectUnavailable(sandbox.find('acc_1', 'ord_1'), message)
    const list = sandbox.list({ accountId: 'acc_1', limit: 1, after: null })
    await expectUnavailable(list, message)
  })

  it.each(['request', 'request.bodyDigest'])('a request without %s', async (field) => {
    const { idempotency } = test.services.managementStores
    const request = { id: 'i', bodyDigest: 'd', createdAt: 1, response: null }
    const since = { completed: 0, inProgress: 0 }
    const begun = await idempotency.begin(request, since)
    const message = await damage('idempotent-requests', 'i', field)
    await expectUnavailable(idempotency.begin(request, since), message)
    if ('claim' in begun) await expectUnavailable(begun.claim.renew(2), message)
  })
})
