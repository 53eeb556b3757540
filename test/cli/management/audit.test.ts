import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { runCommand, startCommand } from '../../support/cli/command.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

const KILLS = 6

let backend: Backend
beforeAll(() => {
  backend = createBackend()
})
afterAll(() => backend.remove())

const run = (...args: string[]) => runCommand(args, backend.env)

async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

interface Entry {
  action: string
  target: string
  outcome: string
}

const entriesOf = (accountId: string): Promise<Entry[]> =>
  json('audit', 'list', '--account', accountId)

describe('the audit log of commands', () => {
  it('has one entry for each change, newest first, by the command line, and never a secret', async () => {
    const created = await json('keys', 'create', '--account', 'acc_log', '--name', 'erp')
    const rolled = await json('keys', 'roll', created.key_id, '--overlap', '1h')
    await run('keys', 'revoke', rolled.key_id)
    await run('accounts', 'block', 'acc_log')
    await run('accounts', 'unblock', 'acc_log')

    const entries = await entriesOf('acc_log')
    const entry = (action: string, target: string, successor: string | null = null) => ({
      object: 'audit_entry',
      id: expect.stringMatching(/^aud_[0-9a-f]{32}$/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      actor: 'cli',
      action,
      account_id: 'acc_log',
      target,
      successor,
      request_id: null,
      outcome: 'done',
    })
    expect(entries).toEqual([
      entry('account.unblock', 'acc_log'),
      entry('account.block', 'acc_log'),
      entry('key.revoke', rolled.key_id),
      entry('key.roll', created.key_id, rolled.key_id),
      entry('key.create', created.key_id),
    ])
    const printed = [JSON.stringify(entries), (await run('audit', 'list')).stdout]
    const files = readdirSync(backend.folder).map((file) =>
      readFileSync(join(backend.folder, file), 'latin1'),
    )
    for (const text of [...printed, ...files]) {
      for (const { key } of [created, rolled]) expect(text.includes(key)).toBe(false)
    }
  })

  it('has no entry for a refused command', async () => {
    const { key_id } = await json('keys', 'create', '--account', 'acc_refused')
    await run('keys', 'revoke', key_id)
    const before = await entriesOf('acc_refused')
    for (const command of [
      ['keys', 'create', '--account', 'acc_refused', '--name', 'n'.repeat(101)],
      ['keys', 'revoke', key_id],
      ['keys', 'revoke', 'key_missing'],
      ['keys', 'roll', key_id],
    ]) {
      await run(...command)
    }
    expect(await entriesOf('acc_refused')).toEqual(before)
  })
})

describe('audit list', () => {
  it('lists all accounts unless one is given, up to the limit', async () => {
    for (const account of ['acc_one', 'acc_two']) await run('accounts', 'block', account)
    const targets = (await json('audit', 'list', '--limit', '2')).map(({ target }: Entry) => target)
    expect(targets).toEqual(['acc_two', 'acc_one'])
    expect(await entriesOf('acc_one')).toHaveLength(1)
    const { stdout } = await run('audit', 'list', '--account', 'acc_one')
    expect(stdout).toMatch(
      /^id +at +actor +action +account_id +target +successor +request_id +outcome\n/,
    )
  })

  it.each(['0', '-1', '10001', 'all'])('exits 2 for the limit %s', async (limit) => {
    expect(await run('audit', 'list', `--limit=${limit}`)).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('a command that is killed', () => {
  let services: Services
  beforeAll(async () => {
    services = await openServices(parseConfig(backend.env))
  })
  afterAll(() => services.close())

  const list = (accountId: string) =>
    services.managementStores.audit.list({ accountId, limit: 1_000, after: null })

  /** Kills a command as soon as its entry is stored, or a little later. */
  async function killAfterEntry(args: string[], accountId: string, delayMs: number) {
    const { length: before } = await list(accountId)
    const child = startCommand(args, backend.env)
    const closed = once(child, 'close')
    while (child.exitCode === null && (await list(accountId)).length === before) await pause(1)
    await pause(delayMs)
    child.kill('SIGKILL')
    await closed
  }

  it('leaves no key without an entry when it is killed between entry and outcome', async () => {
    const args = ['keys', 'create', '--account', 'acc_created']
    for (let kill = 0; kill < KILLS; kill += 1) await killAfterEntry(args, 'acc_created', kill)
    const entries = await list('acc_created')
    expect(entries).toHaveLength(KILLS)
    const targets = new Set(entries.map(({ target }) => target))
    const keys = await services.keys.list('acc_created')
    for (const { keyId } of keys) expect(targets).toContain(keyId)
    const done = entries.filter(({ outcome }) => outcome === 'done')
    const keyIds = keys.map(({ keyId }) => keyId)
    expect(keyIds).toEqual(expect.arrayContaining(done.map(({ target }) => target)))
  })

  it('revokes no key without an entry when it is killed between entry and outcome', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { key_id } = await json('keys', 'create', '--account', 'acc_revoked')
      await killAfterEntry(['keys', 'revoke', key_id], 'acc_revoked', kill)
    }
    const entries = await list('acc_revoked')
    const of = (action: string) => entries.filter((entry) => entry.action === action)
    expect(of('key.create')).toHaveLength(KILLS)
    expect(of('key.revoke')).toHaveLength(KILLS)
    const revoked = (await services.keys.list('acc_revoked')).filter(
      (key) => key.revokedAt !== null,
    )
    const targets = new Set(of('key.revoke').map(({ target }) => target))
    for (const { keyId } of revoked) expect(targets).toContain(keyId)
  })
})
