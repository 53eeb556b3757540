import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type Backend, createBackend, firstNode } from '../../support/stores/backend.ts'
import { thrownBy } from '../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  proxyTo,
  type ScriptedServer,
  startServer,
} from '../../support/stores/scripted/scripted-server.ts'

let backend: Backend
let node: ScriptedServer
let services: Services
/** The writes to this path arrive late; `null`: none. */
let latePath: RegExp | null
let late: (() => Promise<string>)[]

const forwardToNode = proxyTo(firstNode())

/** A node that freezes once it has received a write: its connection breaks meanwhile. */
const freezable: Behaviour = (response, request) => {
  const forward = () => forwardToNode(response, request)
  if (request.method === 'GET' || latePath?.test(request.path) !== true) return void forward()
  late.push(forward)
  response.socket?.resetAndDestroy()
}

beforeEach(async () => {
  latePath = null
  late = []
  backend = createBackend()
  node = await startServer([freezable])
  services = await openServices(parseConfig({ ...backend.env, OPENSEARCH_URL: node.url }))
})
afterEach(async () => {
  await services.close()
  await node.close()
  await backend.remove()
})

/**
 * Runs a write whose outcome is unknown. Its request arrives when the returned function is called.
 */
async function delay(path: RegExp, work: () => Promise<void>): Promise<() => Promise<void>> {
  latePath = path
  expect(await thrownBy(work())).toBeInstanceOf(Unavailable)
  latePath = null
  expect(late).toHaveLength(1)
  return async () => {
    for (const forward of late.splice(0)) await forward()
  }
}

describe('a write that arrives late', () => {
  it.each([
    ['an unblock', true],
    ['a block', false],
  ])('%s of an account does not undo a later confirmed one', async (_what, blocked) => {
    const { keys } = services
    await keys.setAccountBlocked('acc_1', blocked)
    const arrive = await delay(/accounts\/_doc\/acc_1\?.*if_seq_no=/, () =>
      keys.setAccountBlocked('acc_1', !blocked),
    )
    await keys.setAccountBlocked('acc_1', blocked)
    await arrive()
    expect(await keys.isAccountBlocked('acc_1')).toBe(blocked)
  })

  it('the usage of a key does not undo later counts', async () => {
    const { usage } = services.managementStores
    const counted = (requests: number) => ({
      ...{ day: '2026-11-02', keyId: 'key_1', accountId: 'acc_1', processId: 'run_1' },
      ...{ requests, byStatus: { 200: requests }, rateLimited: 0, lastUsedAt: requests },
    })
    await usage.save([counted(1)])
    const arrive = await delay(/api-usage\/_bulk/, () => usage.save([counted(2)]))
    await usage.save([counted(3)])
    await arrive()
    const november = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }
    expect(await usage.list(november)).toEqual([{ ...counted(3), processId: '' }])
  })
})
