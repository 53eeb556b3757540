import { afterAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices } from '../../src/services.ts'
import { runCommand } from '../support/cli/command.ts'
import { fillSandbox } from '../support/management/sandbox.ts'
import { createBackend } from '../support/stores/backend.ts'

const { env, remove } = createBackend()
afterAll(remove)
const run = (...args: string[]) => runCommand(['sandbox', ...args], env)

async function create(account: string, scenario: string) {
  const { stdout } = await run('create', '--account', account, '--scenario', scenario, '--json')
  return JSON.parse(stdout)
}

describe('the sandbox command', () => {
  it('moves an order on, and lists it', async () => {
    const { id, ...created } = await create('acc_1', 'subscription')
    expect(created).toMatchObject({ account_id: 'acc_1', version: 1, status: 'PAID' })
    const moved = await run('move', id, 'renew', '--account', 'acc_1', '--json')
    expect(JSON.parse(moved.stdout)).toMatchObject({ id, version: 2, status: 'PAID' })
    const list = await run('list', '--account', 'acc_1', '--json')
    expect(JSON.parse(list.stdout)).toEqual([JSON.parse(moved.stdout)])
  })

  it('prints tables without --json', async () => {
    const { id } = await create('acc_table', 'trial')
    expect((await run('list', '--account', 'acc_table')).stdout).toContain(id)
    expect((await run('scenarios')).stdout).toMatch(
      /^split_awaiting +split awaiting its last part$/m,
    )
  })

  it('lists as many as asked for, and scenarios as JSON', async () => {
    const scenarios = JSON.parse((await run('scenarios', '--json')).stdout)
    expect(scenarios).toContainEqual(expect.objectContaining({ id: 'card_paid' }))
    for (const { id } of scenarios.slice(0, 3)) await create('acc_list', id)
    const list = async (...args: string[]) =>
      JSON.parse((await run('list', '--account', 'acc_list', '--json', ...args)).stdout)
    expect([await list(), await list('--limit', '2')]).toMatchObject([{ length: 3 }, { length: 2 }])
  })

  it('is in the audit log as the command line', async () => {
    const { id } = await create('acc_audit', 'card_paid')
    await run('move', id, 'refund', '--account', 'acc_audit')
    const log = await runCommand(['audit', 'list', '--account', 'acc_audit', '--json'], env)
    expect(JSON.parse(log.stdout)).toMatchObject([
      { actor: 'cli', action: 'sandbox_order.change', target: id },
      { actor: 'cli', action: 'sandbox_order.create', target: id },
    ])
  })

  it('exits 1 for an impossible move, and names the possible ones', async () => {
    const { id } = await create('acc_1', 'dispute')
    const { code, stderr } = await run('move', id, 'pay', '--account', 'acc_1')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('win, erase') })
  })

  it('exits 1 at the limit of an account, and says what to do', async () => {
    const services = await openServices(parseConfig(env))
    await fillSandbox(services.managementStores.sandbox, 'acc_full').finally(services.close)
    const { code, stderr } = await run('create', '--account', 'acc_full', '--scenario', 'trial')
    expect(code).toBe(1)
    expect(stderr).toContain('has 1000 orders')
    expect(stderr).toContain('erase one with "sandbox move ORDER_ID erase --account acc_full"')
  })

  it.each([
    ['an unknown scenario', ['create', '--account', 'acc_1', '--scenario', 'none']],
    ['an unknown move', ['move', 'ord_test_1', 'ship', '--account', 'acc_1']],
    ['the internal id of a sandbox', ['list', '--account', 'acc_1.test']],
    ['an order of an internal id', ['create', '--account', 'acc_1.test', '--scenario', 'trial']],
    ['no account', ['create', '--scenario', 'trial']],
    ['a limit of 0', ['list', '--account', 'acc_1', '--limit', '0']],
  ])('exits 2 with %s', async (_what, args) => {
    expect((await run(...args)).code).toBe(2)
  })
})
