import { afterAll, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { createBackend } from '../support/stores/backend.ts'

const { env, remove } = createBackend()
afterAll(remove)
const run = (...args: string[]) => runCommand(args, env)

async function show(account: string) {
  return JSON.parse((await run('accounts', 'show', account, '--json')).stdout)
}

it('accounts show prints whether an account is blocked, and its active keys', async () => {
  await run('keys', 'create', '--account', 'acc_1')
  const { stdout } = await run('keys', 'create', '--account', 'acc_1', '--json')
  await run('keys', 'revoke', JSON.parse(stdout).key_id)
  expect(await show('acc_1')).toEqual({ account: 'acc_1', blocked: false, active_keys: 1 })
  expect(await run('accounts', 'block', 'acc_1')).toMatchObject({ stderr: 'acc_1 is blocked\n' })
  expect(await show('acc_1')).toMatchObject({ blocked: true })
  expect((await run('accounts', 'show', 'acc_1')).stdout).toMatch(/acc_1 +true +1\n$/)
  await run('accounts', 'unblock', 'acc_1')
  expect(await show('acc_1')).toMatchObject({ blocked: false })
})

it('accounts block says when the account has no key, because its id may be wrong', async () => {
  const { code, stderr } = await run('accounts', 'block', 'acc_typo')
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'acc_typo is blocked\nacc_typo has no key: check that the id is right\n',
  })
})
