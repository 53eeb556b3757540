import { beforeEach, describe, expect, it } from 'vitest'
import { runProcess } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { finish, spawnOrders } from '../../support/orders-cli/orders-cli.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

const run = (args: string[], input?: string) => runProcess(args, { DATA_DIR: folder }, input)

describe('the public-orders-api process', () => {
  it('prints help on stdout and exits 0', async () => {
    const { code, stdout, stderr } = await run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Usage: public-orders-api')
  })

  it('prints a usage error on stderr and exits 2', async () => {
    const { code, stdout, stderr } = await run(['keys', 'create'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain("error: required option '--account <id>' not specified")
  })

  it.each([
    [['webhook', 'list', '--account', 'acc_1'], 'webhook', 'webhooks'],
    [['reindex'], 'reindex', 'index'],
  ])('names an unknown command and exits 2: %j', async (args, name, similar) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`error: unknown command '${name}'\n(Did you mean ${similar}?)`)
  })

  it.each([
    [['KEYS'], 'commands: serve, keys, '],
    [['accounts', 'list'], 'commands: block, unblock, show\n'],
    [
      ['accounts', 'block', '--account', 'acc_1'],
      'usage: public-orders-api accounts block [options] <account>\n',
    ],
  ])('says what it expects after a usage error: %j', async (args, expected) => {
    const { code, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stderr).toContain(`\n${expected}`)
  })

  it('prints the error of a failed command on stderr and exits 1', async () => {
    const { code, stdout, stderr } = await run(['keys', 'revoke', 'key_none'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('there is no key key_none')
  })

  it('reads standard input, prints the summary on stdout, and exits 1 after a rejected line', async () => {
    const input = `${JSON.stringify(sourceOrder())}\n[]\n`
    const { code, stdout, stderr } = await run(['index', 'load', '-', '--json'], input)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ read: 2, written: 1, refused: 1 })
    expect(stderr).toBe('line 2: expected an object, got a list\n')
  })
})

describe('a secret that cannot be printed', () => {
  const toFullDisk = (args: string[]) =>
    runProcess(args, { DATA_DIR: folder }, '', ['sh', '-c', 'exec "$@" > /dev/full', 'sh'])
  const account = ['--account', 'acc_1']

  it.each([[[]], [['--json']]])('of a new key is reported with its id: %j', async (options) => {
    const { code, stderr } = await toFullDisk(['keys', 'create', ...account, ...options])
    const [created] = JSON.parse((await run(['keys', 'list', ...account, '--json'])).stdout)
    expect(code).toBe(1)
    expect(stderr).toContain(`"keys roll ${created.key_id} --overlap 0s"`)
    expect(stderr).toContain('cannot write stdout: ENOSPC')
    expect(stderr).not.toMatch(/key_live_|node:/)
  })

  it('of a rolled key is reported with the command that prints another one in its place', async () => {
    const { stdout } = await run(['keys', 'create', ...account, '--json'])
    const { stderr } = await toFullDisk(['keys', 'roll', JSON.parse(stdout).key_id])
    const [, ...advised] = /"(keys roll (\w+) --overlap 0s)"/.exec(stderr) ?? []
    const rolled = await run(advised[0]?.split(' ') ?? [])
    expect(rolled).toMatchObject({ code: 0, stdout: expect.stringMatching(/^key_live_/) })
    const listed = await run(['keys', 'list', ...account, '--json'])
    const unprinted = { key_id: advised[1], state: 'expired' }
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining(unprinted))
  })

  it('of an endpoint is reported with the id, and a secret can be printed then', async () => {
    const url = ['--url', 'https://93.184.215.14/hook']
    const { code, stderr } = await toFullDisk(['webhooks', 'create', ...account, ...url])
    const [, id = ''] = /"webhooks roll-secret (\w+) --overlap 0s"/.exec(stderr) ?? []
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.not.stringContaining('whsec_') })
    const rolled = await run(['webhooks', 'roll-secret', id, '--overlap', '0s'])
    expect(rolled.stdout).toMatch(/^whsec_/)
    expect((await toFullDisk(['webhooks', 'roll-secret', id])).stderr).toContain(
      `repeat "webhooks roll-secret ${id}"`,
    )
  })

  it.each([
    ['>&-', 'closed'],
    ['> /dev/null', 'discarded'],
  ])('names the next step also with %s, where its stdout is %s', async (redirection) => {
    const command = ['sh', '-c', `exec "$@" ${redirection}`, 'sh']
    const args = ['keys', 'create', ...account]
    const { code, stderr } = await runProcess(args, { DATA_DIR: folder }, '', command)
    expect(code).toBe(0)
    expect(stderr).toMatch(/"keys roll key_\w+ --overlap 0s"\n$/)
  })

  it('fails the command also when the reader of the pipe has ended', async () => {
    // The command starts once `true`, its reader, has ended.
    const line = '{ sleep 1; "$@"; echo "exit $?" >&2; } | true'
    const args = ['keys', 'create', ...account]
    const { stderr } = await runProcess(args, { DATA_DIR: folder }, '', ['sh', '-c', line, 'sh'])
    expect(stderr).toMatch(/"keys roll key_\w+ --overlap 0s"\nexit 1\n$/)
  })
})

describe('the orders process', () => {
  it.each<[string[], { code: number; stdout: RegExp; stderr: RegExp }]>([
    [['--version'], { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: /^$/ }],
    [['exportar'], { code: 2, stdout: /^$/, stderr: /Não existe o comando "exportar"/ }],
    [
      ['get', 'ord_1', '--url', 'http://127.0.0.1:9'],
      { code: 1, stdout: /^$/, stderr: /Confira a rede e o endereço/ },
    ],
  ])('orders %j exits with its code and uses its own streams', async (args, expected) => {
    const env = { ORDERS_API_KEY: 'key_live_1' }
    const { code, stdout, stderr } = await finish(spawnOrders(args, { cwd: folder, env }))
    expect(code).toBe(expected.code)
    expect(stdout).toMatch(expected.stdout)
    expect(stderr).toMatch(expected.stderr)
  })
})
