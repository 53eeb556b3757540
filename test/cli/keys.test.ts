import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { createBackend } from '../support/stores/backend.ts'

const { folder, env, remove } = createBackend()
afterAll(remove)
const run = (...args: string[]) => runCommand(args, env)

const KEY = /^key_live_[0-9A-Za-z]{38}$/
const TEST_KEY = /^key_test_[0-9A-Za-z]{38}$/

async function create(...args: string[]) {
  const { stdout } = await run('keys', 'create', '--json', ...args)
  return JSON.parse(stdout)
}

async function list(account: string) {
  return JSON.parse((await run('keys', 'list', '--account', account, '--json')).stdout)
}

describe('keys create', () => {
  it('prints only the key on stdout', async () => {
    const { code, stdout, stderr } = await run('keys', 'create', '--account', 'acc_alone')
    expect(code).toBe(0)
    expect(stdout.trimEnd()).toMatch(KEY)
    expect(stderr).not.toMatch(/key_live_/)
  })

  it('prints the key with its record as JSON', async () => {
    const created = await create('--account', 'acc_json', '--expires', '2999-01-01T00:00:00Z')
    expect(created).toEqual({
      key: expect.stringMatching(KEY),
      key_id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      account_id: 'acc_json',
      test: false,
      scopes: ['orders:read'],
      expires_at: '2999-01-01T00:00:00.000Z',
    })
  })

  it('creates a key of the sandbox, which the list of its account shows as such', async () => {
    const { key, key_id, test } = await create('--account', 'acc_sandbox', '--test')
    expect({ key, test }).toEqual({ key: expect.stringMatching(TEST_KEY), test: true })
    expect(await list('acc_sandbox')).toMatchObject([
      { key_id, account_id: 'acc_sandbox', test: true },
    ])
  })

  it('accepts a duration for --expires', async () => {
    const { expires_at } = await create('--account', 'acc_span', '--expires', '90d')
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
  })

  it("creates a key without scopes for --scopes ''", async () => {
    expect((await create('--account', 'acc_none', '--scopes', '')).scopes).toEqual([])
  })

  it('creates a key that reads orders without personal data', async () => {
    const options = ['--account', 'acc_masked', '--scopes', 'orders:read_masked']
    expect((await create(...options)).scopes).toEqual(['orders:read_masked'])
  })

  it('accepts a repeated scope, with spaces around its commas', async () => {
    const { scopes } = await create('--account', 'acc_1', '--scopes', 'orders:read, orders:read ')
    expect(scopes).toEqual(['orders:read'])
  })

  it('creates no key that reads orders both with personal data and without', async () => {
    const scopes = 'orders:read,orders:read_masked'
    const { code, stdout, stderr } = await run(
      ...['keys', 'create', '--account', 'acc_both', '--scopes', scopes],
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('choose one of orders:read and orders:read_masked')
  })

  it('writes the plain key to no file', async () => {
    const { key } = await create('--account', 'acc_secret', '--name', 'erp')
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file), 'latin1'), file).not.toContain(key)
    }
  })

  it.each([
    ['no account', []],
    ['a bad account', ['--account', 'acc 1']],
    ['an unknown scope', ['--account', 'a', '--scopes', 'orders:write']],
    ['a span without a unit', ['--account', 'a', '--expires', '90']],
    ['a past instant', ['--account', 'a', '--expires', '2020-01-01T00:00:00Z']],
    ['an unknown option', ['--account', 'a', '--acount', 'b']],
    ['an extra argument', ['--account', 'a', 'b']],
  ])('exits 2 and prints no key with %s', async (_name, args) => {
    const { code, stdout, stderr } = await run('keys', 'create', ...args)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/error: /)
  })
})

describe('keys list', () => {
  it('distinguishes the keys of an account without printing them', async () => {
    const { key, key_id } = await create('--account', 'acc_list', '--name', 'planilha')
    expect(await list('acc_list')).toEqual([
      {
        key_id,
        account_id: 'acc_list',
        test: false,
        name: 'planilha',
        last_four: key.slice(-4),
        scopes: ['orders:read'],
        state: 'active',
        created_at: expect.any(String),
        expires_at: null,
        revoked_at: null,
        last_valid_at: null,
      },
    ])
    const table = await run('keys', 'list', '--account', 'acc_list')
    expect(table.stdout).toContain(key_id)
    expect(table.stdout).not.toContain(key)
  })

  it('prints an empty list for an account without keys', async () => {
    expect(await list('acc_missing')).toEqual([])
  })
})

describe('keys revoke', () => {
  it('revokes a key for good', async () => {
    const { key_id } = await create('--account', 'acc_revoke')
    expect((await run('keys', 'revoke', key_id)).code).toBe(0)
    const [first] = await list('acc_revoke')
    expect(first.state).toBe('revoked')
    await run('keys', 'revoke', key_id)
    expect((await list('acc_revoke'))[0].revoked_at).toBe(first.revoked_at)
  })

  it('exits 1 for a missing key and reports it', async () => {
    const { code, stderr } = await run('keys', 'revoke', 'key_missing')
    expect(code).toBe(1)
    expect(stderr).toContain('there is no key key_missing')
  })
})

describe('a key passed in place of its id', () => {
  it('a key passed in place of its id is not repeated in the error', async () => {
    const { key } = await create('--account', 'acc_slip')
    const { code, stderr } = await run('keys', 'revoke', key)
    expect(code).toBe(1)
    expect(stderr).toContain('that is a key')
    expect(stderr).not.toContain(key)
  })
})

describe('keys roll', () => {
  it('prints a key of the sandbox for one of the sandbox', async () => {
    const { key_id } = await create('--account', 'acc_roll_test', '--test')
    expect((await run('keys', 'roll', key_id)).stdout.trimEnd()).toMatch(TEST_KEY)
    expect(await list('acc_roll_test')).toMatchObject([{ test: true }, { test: true }])
  })

  it('names the longest overlap in its help', async () => {
    const { stdout } = await run('keys', 'roll', '--help')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('how long both keys are valid, at most 30d')
  })

  it('names the longest overlap where the given one is longer', async () => {
    const old = await create('--account', 'acc_1')
    const { code, stderr } = await run('keys', 'roll', old.key_id, '--overlap', '31d')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'the overlap is not valid: expected 0 to 30 days\n',
    })
  })

  it('prints a successor, and the old key expires after the overlap', async () => {
    const old = await create('--account', 'acc_roll', '--name', 'erp')
    const { code, stdout } = await run('keys', 'roll', old.key_id, '--overlap', '2h')
    expect(code).toBe(0)
    expect(stdout.trimEnd()).toMatch(KEY)
    const [first, second] = await list('acc_roll')
    const hours = (Date.parse(first.expires_at) - Date.now()) / 3_600_000
    expect(Math.round(hours)).toBe(2)
    expect(second).toMatchObject({ name: 'erp', state: 'active', expires_at: null })
  })

  it('exits 1 for a revoked key', async () => {
    const { key_id } = await create('--account', 'acc_over')
    await run('keys', 'revoke', key_id)
    const { code, stdout, stderr } = await run('keys', 'roll', key_id)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('revoked')
  })
})

describe('the keys command', () => {
  it.each([['nothing-like-this'], ['keys', 'nothing'], ['serve', '--nothing']])(
    'exits 2 for %s %s',
    async (...args) => {
      expect((await run(...args)).code).toBe(2)
    },
  )

  it('exits 0 and prints its help', async () => {
    const { code, stdout } = await run('--help')
    expect(code).toBe(0)
    expect(stdout).toContain('accounts')
  })
})
